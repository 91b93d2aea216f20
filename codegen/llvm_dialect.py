"""From a module after `smem-to-nvvm` to the LLVM dialect, by upstream's passes."""

from typing import Any

from ..dialect.bindings import passmanager
from .errors import CompileError

#: Run on each gpu.module. `convert-gpu-to-nvvm` converts memref, arith and cf with it.
PIPELINE = (
    "canonicalize,cse,expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-vector-to-llvm,convert-gpu-to-nvvm{index-bitwidth=64},convert-nvvm-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse"
)


def lower_to_llvm_dialect(module: Any) -> None:
    """Lowers the kernels of a module in place.

    Raises:
        MLIRError: with located diagnostics, if an op has no lowering.
    """
    pm = passmanager.PassManager("builtin.module")
    pm.add(f"gpu.module({PIPELINE})")
    pm.run(module.operation)


def device_module(module: Any) -> Any:
    """The `gpu.module` that holds a module's kernels.

    Raises:
        CompileError: if there is none, or more than one.
    """
    found = [op for op in module.body.operations if op.operation.name == "gpu.module"]
    if len(found) != 1:
        raise CompileError(f"expected one gpu.module that holds the kernels, found {len(found)}")
    return found[0]
