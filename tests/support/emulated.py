"""Lowered kernels around a few lines of body, and what the emulator computes and reports."""

import re
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from mlir_smem.emulator import ViolationKind, Violations, emulate, parse_lowered

#: MLIR's names of NumPy's types; MLIR's integers are signless.
ELEMENTS = {
    np.dtype(np.bool_): "i1",
    np.dtype(np.float16): "f16",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    **{np.dtype(f"{sign}{size}"): f"i{8 * size}" for sign in "iu" for size in (1, 2, 4, 8)},
}

#: The memory space of shared memory.
SHARED = "#gpu.address_space<workgroup>"

#: Lines that every kernel begins with.
PRELUDE = "\n".join(
    [
        "%tid = gpu.thread_id x",
        "%t32 = arith.index_cast %tid : index to i32",
        *(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 4, 8, 16, 32, 64, 128)),
    ]
)


@dataclass(frozen=True)
class Fault:
    """A violation: the rule, the line of the text that broke it, and the message."""

    kind: ViolationKind
    line: str
    message: str


def memref(array):
    """The memref type of an array, strided if the array is not C-contiguous."""
    shape = "".join(f"{extent}x" for extent in array.shape)
    layout = ""
    if not array.flags.c_contiguous:
        strides = [stride // array.itemsize for stride in array.strides]
        layout = f", strided<{strides}>"
    return f"memref<{shape}{ELEMENTS[array.dtype]}{layout}>"


def kernel(body, types=(), symbols="", buffers=""):
    """A module with a kernel `k`; its arguments are %A, %B, and so on."""
    arguments = ", ".join(f"%{name}: {t}" for name, t in zip("ABCDEFGHIJKL", types, strict=False))
    if "gpu.return" not in body:
        body += "\n    gpu.return"
    return f"""gpu.module @m {{
  {symbols}
  gpu.func @k({arguments}) {buffers} kernel {{
    {PRELUDE}
    {body}
  }}
}}
"""


def triple(extents):
    """Return extents along x, y, z; missing ones are 1."""
    extents = (extents,) if isinstance(extents, int) else tuple(extents)
    return (*extents, 1, 1)[:3]


def run(body, *arguments, block=32, grid=1, shared=0, types=None, symbols="", buffers=""):
    """Run a kernel with a body; its arrays are written in place.

    Args:
        body: the kernel's lines.
        arguments: arrays.
        block, grid: extents in threads and CTAs; a single number is along x.
        shared: bytes of dynamic shared memory.
        types: MLIR types of the arguments, if they are not those of the arrays.
        symbols: global variables of the module.
        buffers: the kernel's workgroup buffers.
    """
    text = kernel(body, types or [memref(a) for a in arguments], symbols, buffers)
    run_text(text, "k", arguments, block, grid, shared)


def run_text(text, entry, arguments, block=32, grid=1, shared=0):
    """Run a kernel of a module: text, or the bytecode of a compiled one."""
    emulate(
        parse_lowered(text) if isinstance(text, bytes) else text,
        entry,
        list(arguments),
        grid=triple(grid),
        block=triple(block),
        dynamic_shared_bytes=shared,
    )


def faults(body, *arguments, **options):
    """The faults of a kernel with a body; arguments are those of `run`."""
    types = options.get("types") or [memref(a) for a in arguments]
    text = kernel(body, types, options.get("symbols", ""), options.get("buffers", ""))
    sizes = {name: options[name] for name in ("block", "grid", "shared") if name in options}
    return faults_of(text, "k", arguments, **sizes)


def faults_of(text, entry, arguments, block=32, grid=1, shared=0, source=None):
    """The faults of a kernel of a module; lines are those of `source` if the text was lowered from it."""
    try:
        run_text(text, entry, arguments, block, grid, shared)
    except Violations as error:
        return [_fault(violation, source or text) for violation in error.found]
    return []


def _fault(violation, text):
    match = re.search(r'"-":(\d+):', str(violation.location))
    line = text.splitlines()[int(match[1]) - 1].strip() if match else ""
    return Fault(violation.kind, line, violation.message)


def only_fault(*arguments, **options):
    """The only fault of a kernel; arguments are those of `faults`."""
    all_faults = faults(*arguments, **options)
    assert len(all_faults) == 1, all_faults
    return all_faults[0]


def elementwise(line, inputs, result, elements=None):
    """Return an op's results for each row of some arrays, one thread for each row.

    Args:
        line: the op, which computes %r from %a, %b and %c.
        inputs: arrays of one dimension and equal length.
        result: the dtype of %r.
        elements: MLIR types of the arrays' elements and of %r, if they are not those of the dtypes.
    """
    arrays = [*inputs, np.zeros(len(inputs[0]), result)]
    names = elements or [ELEMENTS[array.dtype] for array in arrays]
    types = [f"memref<{len(arrays[0])}x{name}>" for name in names]
    places = list(zip("ABCD", types, strict=False))[: len(arrays)]
    lines = [
        f"%{name.lower()} = memref.load %{name}[%tid] : {type_}" for name, type_ in places[:-1]
    ]
    name, type_ = places[-1]
    lines += [f"%r = {line}", f"memref.store %r, %{name}[%tid] : {type_}"]
    run("\n".join(lines), *arrays, block=len(arrays[0]), types=types)
    return arrays[-1]
