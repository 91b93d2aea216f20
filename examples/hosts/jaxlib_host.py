"""A compiler on jaxlib's MLIR bindings: it parses a kernel, lowers it by mlir-smem, and runs it.

    pip install jaxlib
    python examples/hosts/jaxlib_host.py

jaxlib's bindings cannot hold a dialect that is defined in Python, so the kernel is parsed with
`allow_unregistered_dialects`. `interop.lower` takes jaxlib's module and returns one, in the same context.
"""

from pathlib import Path

import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir._mlir_libs import _jax_mlir_ext

import mlir_smem
from mlir_smem import interop
from mlir_smem.runtime import run_on_cpu

KERNEL = Path(__file__).parents[1] / "matmul.mlir"


def new_context() -> ir.Context:
    """Return a context of jaxlib with its dialects, in which ops of `smem` can be parsed."""
    registry = ir.DialectRegistry()
    _jax_mlir_ext.register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.allow_unregistered_dialects = True
    return context


def kernel(context: ir.Context) -> ir.Module:
    """Return the kernel `matmul(A, B, C)` as a module of jaxlib."""
    return ir.Module.parse(KERNEL.read_text(), context)


def run(module: ir.Module, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return C = A * B of a module of jaxlib, computed by the emulator."""
    compiled = mlir_smem.compile(module, emit="nvvm")
    return run_on_cpu(compiled, "matmul", {"A": a, "B": b}, ["C"])["C"]


def main() -> None:
    lowered = interop.lower(kernel(new_context()))
    assert lowered.operation.verify()
    rng = np.random.default_rng(0)
    a, b = (
        rng.integers(-4, 5, shape).astype(ml_dtypes.bfloat16) for shape in ((128, 64), (64, 256))
    )
    exact = (a.astype(np.float32) @ b.astype(np.float32)).astype(ml_dtypes.bfloat16)
    assert np.array_equal(run(lowered, a, b), exact)
    print(f"{str(lowered).count('nvvm.wgmma.mma_async')} wgmma in jaxlib's module; C is A * B")


if __name__ == "__main__":
    main()
