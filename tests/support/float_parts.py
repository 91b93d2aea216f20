"""Kernels that store the bits of floats in parts, which a store takes out of a wider register."""

import ml_dtypes
import numpy as np

#: A float type, and the integers that its sums are stored as.
PARTS = [
    ("f64", "i32"),
    ("f64", "i16"),
    ("f64", "i8"),
    ("f32", "i16"),
    ("f32", "i8"),
    ("f16", "i8"),
    ("bf16", "i8"),
]

_FLOATS = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
}

#: Threads of the one block, and elements.
COUNT = 128


def integers(element, part):
    """The dtype of the parts, and how many an element has."""
    dtype = np.dtype(f"i{int(part[1:]) // 8}")
    return dtype, _FLOATS[element].itemsize // dtype.itemsize


def kernel(element, part):
    """A kernel `k` of Y = the bits of X + X, in parts."""
    _, count = integers(element, part)
    whole, parts = f"memref<{COUNT}x{element}>", f"memref<{COUNT * count}x{part}>"
    return f"""gpu.module @m {{
  gpu.func @k(%X: {whole} {{smem.name = "X"}}, %Y: {parts} {{smem.name = "Y"}})
      kernel attributes {{known_block_size = array<i32: {COUNT}, 1, 1>}} {{
    %i = gpu.thread_id x
    %count = arith.constant {count} : index
    %j = arith.muli %i, %count : index
    %x = memref.load %X[%i] : {whole}
    %y = arith.addf %x, %x : {element}
    %v = vector.from_elements %y : vector<1x{element}>
    %w = vector.bitcast %v : vector<1x{element}> to vector<{count}x{part}>
    vector.store %w, %Y[%j] : {parts}, vector<{count}x{part}>
    gpu.return
  }}
}}"""


def operands(element):
    """Numbers whose bits are not those of the integers that they are near."""
    return np.linspace(-300, 300, COUNT).astype(_FLOATS[element])


def expected(element, part):
    """What the kernel makes of them."""
    x = operands(element)
    return (x + x).view(integers(element, part)[0])
