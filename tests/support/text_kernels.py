"""Kernels that are called as those of the language are, and whose functions return MLIR text."""

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.language.call.on_arrays import CallableOnArrays
from mlir_smem.language.signature import parse

#: A factor of `scaled` that the trace reads.
FACTOR = 2.0


class TextKernel(CallableOnArrays):
    """A kernel whose function takes element types and constants and returns MLIR text."""

    def __init__(self, function, signature, names):
        self.function, self.__name__ = function, function.__name__
        self.parameters = dict(zip(names, parse(signature), strict=True))
        self.constants = dict(function.__kwdefaults__ or {})
        self.lowering = {}
        self.traces = 0

    def trace(self, *types, **constants):
        self.traces += 1
        with new_context():
            return ir.Module.parse(self.function(*types, **constants))


def scaled(x, a, y, *, block=128, grid=True):
    """Y = FACTOR a X, one element a thread."""
    declared = f', smem.grid = [["M", {block}]], smem.multiples = {{M = {block}}}' if grid else ""
    widen = (
        f"%w = arith.extf %v : {x.mlir} to f32"
        if x.mlir != "f32"
        else "%w = arith.addf %v, %z : f32"
    )
    return f"""
gpu.module @kernels {{
  gpu.func @scaled(%X: memref<?x{x.mlir}> {{smem.name = "X", smem.shape = ["M"]}},
                   %a: {a.mlir} {{smem.name = "a"}},
                   %Y: memref<?x{y.mlir}> {{smem.name = "Y", smem.shape = ["M"]}})
      kernel attributes {{known_block_size = array<i32: {block}, 1, 1>{declared}}} {{
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %n = arith.constant {block} : index
    %z = arith.constant 0.0 : f32
    %f = arith.constant {float(FACTOR)} : f32
    %c = arith.muli %b, %n : index
    %i = arith.addi %c, %t : index
    %v = memref.load %X[%i] : memref<?x{x.mlir}>
    {widen}
    %p = arith.mulf %w, %f : f32
    %q = arith.mulf %p, %a : f32
    memref.store %q, %Y[%i] : memref<?x{y.mlir}>
    gpu.return
  }}
}}"""


def make():
    """Return a new kernel that nobody has called."""
    return TextKernel(scaled, "(M), ():f32, (M):f32", "XaY")
