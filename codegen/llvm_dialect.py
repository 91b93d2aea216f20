"""From a module after `smem-to-nvvm` to the LLVM dialect, by upstream's passes."""

from typing import Any

from ..dialect.bindings import passmanager
from ..dialect.diagnostics import emit_op_error, format_location
from ..passes.kernel import walk
from .errors import CompileError

#: Run on each gpu.module. `convert-gpu-to-nvvm` converts memref, arith and cf with it.
PIPELINE = (
    "canonicalize,cse,expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-vector-to-llvm,convert-gpu-to-nvvm{index-bitwidth=64},convert-nvvm-to-llvm,"
    "reconcile-unrealized-casts,canonicalize,cse"
)

#: Dialects whose ops are LLVM IR.
_TRANSLATED = ("llvm", "nvvm", "gpu")


def lower_to_llvm_dialect(module: Any) -> None:
    """Lowers the kernels of a module in place.

    Raises:
        MLIRError, CompileError: with a located diagnostic, if an op has no lowering.
    """
    pm = passmanager.PassManager("builtin.module")
    pm.add(f"gpu.module({PIPELINE})")
    pm.run(module.operation)
    # The translation to LLVM IR crashes on what is left of other dialects.
    left = [op for op in walk(device_module(module)) if op.name.split(".")[0] not in _TRANSLATED]
    # Casts are what upstream puts around an op that it cannot lower: the op itself says more.
    left.sort(key=lambda op: op.name == "builtin.unrealized_conversion_cast")
    if left:
        emit_op_error(left[0], "has no lowering to LLVM")
        where = format_location(left[0].location)
        raise CompileError(f"'{left[0].name}' at {where} has no lowering to LLVM")


def device_module(module: Any) -> Any:
    """The `gpu.module` that holds a module's kernels.

    Raises:
        CompileError: if there is none, or more than one.
    """
    found = [op for op in module.body.operations if op.operation.name == "gpu.module"]
    if len(found) != 1:
        raise CompileError(f"expected one gpu.module that holds the kernels, found {len(found)}")
    return found[0]
