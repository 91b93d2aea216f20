"""Kernels that store the bits of floats as narrower integers, which are parts of a wider register."""

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

#: The number of threads of the CTA, and of elements.
COUNT = 128


def integers(element, part):
    """Return the dtype of the parts, and the number of parts of an element."""
    dtype = np.dtype(f"i{int(part[1:]) // 8}")
    return dtype, _FLOATS[element].itemsize // dtype.itemsize


def kernel(element, part):
    """A kernel `k` that stores the bits of X + X to Y, as parts."""
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
    """X: floats between -300 and 300, most of them not integers."""
    return np.linspace(-300, 300, COUNT).astype(_FLOATS[element])


def expected_parts(element, part):
    """The expected Y."""
    x = operands(element)
    return (x + x).view(integers(element, part)[0])
