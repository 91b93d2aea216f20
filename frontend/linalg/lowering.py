"""From linalg on tensors to a program of the host that launches kernels."""

from __future__ import annotations

from typing import Any

from ...bindings.irtypes import Module
from ...bindings.mlir import passmanager
from ...passes import add_passes
from .values import keep_arguments, own_results

#: Upstream's bufferization: arguments and results of functions are contiguous memrefs.
BUFFERIZATION = (
    "builtin.module(canonicalize,cse,one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map},canonicalize,cse)"
)


def lower_linalg(module: Module, **options: Any) -> None:
    """Make kernels of a program in linalg, and bufferize the rest, in place.

    It runs `linalg-to-smem-prepare`, `linalg-to-smem` and upstream's `one-shot-bufferize`. Tensors stay
    values: no call writes an argument that is a tensor (`bufferization.writable = false`, unless the
    program says otherwise), and each tensor that a function returns is memory of its own.

    Args:
        module: the program, on tensors or memrefs.
        options: options of `linalg-to-smem`, dashes as underscores.

    Raises:
        MLIRError: if a pass fails.
        OptionError: for an unknown option.

    Example:
        >>> from mlir_smem.dialect import new_context
        >>> from mlir_smem.bindings import ir
        >>> text = '''
        ... func.func @main(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>) {
        ...   linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>)
        ...     outs(%c : memref<64x64xf32>)
        ...   return
        ... }
        ... '''
        >>> with new_context():
        ...     program = ir.Module.parse(text)
        ...     lower_linalg(program)
        ...     matmul = Executable(program, on="cpu")
        >>> import ml_dtypes
        >>> a = b = np.eye(64, dtype=ml_dtypes.bfloat16)
        >>> c = np.ones((64, 64), np.float32)
        >>> matmul(a, b, c)
        >>> float(c.sum())
        4160.0
    """
    manager = passmanager.PassManager("builtin.module")
    add_passes(manager, "linalg-to-smem-prepare")
    add_passes(manager, "linalg-to-smem", **options)
    manager.run(module.operation)
    bufferize(module)


def bufferize(module: Module) -> None:
    """Bufferize a program, in place; its tensors stay values (`lower_linalg`).

    Raises:
        MLIRError: if upstream's pass fails.
    """
    functions = keep_arguments(module)
    passmanager.PassManager.parse(BUFFERIZATION).run(module.operation)
    for function in functions:
        own_results(function)
