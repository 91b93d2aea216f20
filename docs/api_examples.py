"""The names that examples in docstrings may use: docs/api says that they are imported."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import op_examples

import mlir_smem

#: The packages whose names are public, in the order of the pages.
PACKAGES = {
    "mlir_smem": "index",
    "mlir_smem.examples": "index",
    "mlir_smem.dialect": "passes",
    "mlir_smem.passes": "passes",
    "mlir_smem.interop": "passes",
    "mlir_smem.dialect.ops": "ops",
    "mlir_smem.layout": "layout",
    "mlir_smem.advisor": "advisor",
    "mlir_smem.codegen": "codegen",
    "mlir_smem.runtime": "runtime",
    "mlir_smem.emulator": "runtime",
    "mlir_smem.language": "language",
    "mlir_smem.frontend": "frontend",
    "mlir_smem.kernels.gemm": "kernels",
    "mlir_smem.kernels.gemm.activations": "kernels",
    "mlir_smem.kernels.attention": "attention",
}

#: The pages.
FOLDER = Path(__file__).parent / "api"


def public(package: str) -> dict[str, Any]:
    """Return the public names of a package, `__all__`, with their values."""
    module = import_module(package)
    return {name: getattr(module, name) for name in module.__all__}


@contextmanager
def names_for(package: str) -> Iterator[dict[str, Any]]:
    """Enter the context of a package's examples, and return the names that they may use."""
    names: dict[str, Any] = {"mlir_smem": mlir_smem, "np": np}
    if package == "mlir_smem.dialect.ops":
        with _kernel() as values:
            yield names | values
        return
    if package == "mlir_smem.language":
        with _trace_kernel() as values:
            yield names | values
        return
    if package == "mlir_smem.kernels.gemm.activations":
        with _trace_kernel() as values:
            yield names | values | public(package)
        return
    used = ["mlir_smem.layout"] if package == "mlir_smem.advisor" else []
    for public_package in (*used, package):
        names |= {
            name: value for name, value in public(public_package).items() if name != "__version__"
        }
    yield names


@contextmanager
def _kernel() -> Iterator[dict[str, Any]]:
    """Enter the kernel of the reference, and return the names that are defined there."""
    from mlir_smem.bindings import arith, gpu, ir, memref
    from mlir_smem.dialect import attributes, new_context, ops, types

    with new_context():
        module = ir.Module.parse(op_examples.program(""))
        kernels = module.body.operations[0]
        *_, function = kernels.regions[0].blocks[0].operations
        block = function.regions[0].blocks[0]
        results = [op.result for op in block.operations if op.name in ("smem.alloc", "smem.fill")]
        bf16 = ir.BF16Type.get()
        names = dict(
            zip(("A", "B", "D", "a", "b", "d"), [*block.arguments][:3] + results, strict=True)
        )
        upstream = {"arith": arith, "gpu": gpu, "ir": ir, "memref": memref}
        with ir.InsertionPoint.at_block_terminator(block):
            names |= {"smem": ops, "types": types, "attributes": attributes, "bf16": bf16}
            yield names | upstream | {"stages": ops.alloc((4, 64, 64), bf16)}
            module.operation.verify()


@contextmanager
def _trace_kernel() -> Iterator[dict[str, Any]]:
    """Enter a kernel that is being traced, and return the names that are defined there."""
    import mlir_smem.language as sl
    from mlir_smem.dialect import new_context
    from mlir_smem.language.build import enter_kernel
    from mlir_smem.language.options import KernelOptions
    from mlir_smem.language.signature import parse

    @sl.kernel("(M,64), (M,64)", sync="manual")
    def double(A, B):  # noqa: N803
        row = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], 64), 64)) * 64
        sl.store(sl.load(A[row : row + 64, :]) * 2.0, B[row : row + 64, :])

    names = "ACDHWS"
    parsed = parse("(M,K), (M,64), (M,64), (G,L,64), (1,1,128), (4,)")
    parameters = dict(zip(names, parsed, strict=True))
    types = (sl.bf16, sl.f32, sl.bf16, sl.bf16, sl.i32, sl.i32)
    dtypes = dict(zip(names, types, strict=True))
    options = KernelOptions(1, (1, 1, 1), None)
    with (
        new_context(),
        enter_kernel(_trace_kernel.__code__, parameters, dtypes, options) as (_, _, arrays),
    ):
        a, b = sl.alloc((64, 64), sl.bf16), sl.alloc((64, 64), sl.bf16)
        zeros = sl.zeros((64, 64), sl.f32)
        names_in_kernel = {"sl": sl, "double": double, "a": a, "b": b, "zeros": zeros}
        names_in_kernel |= dict(zip(names, arrays, strict=True))
        yield names_in_kernel | {"acc": zeros, "scores": zeros + 0.0, "M": arrays[0].shape[0]}
