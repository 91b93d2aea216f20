"""A compiler on IREE's MLIR bindings: it builds a kernel, lowers it by mlir-smem, and runs it.

    pip install iree-base-compiler
    python examples/hosts/iree_host.py

IREE's bindings cannot hold a dialect that is defined in Python, so ops of `smem` are created by name,
with `allow_unregistered_dialects`. `interop.lower` takes IREE's module and returns one, in the same
context.
"""

import ml_dtypes
import numpy as np
from iree.compiler import ir

import mlir_smem
from mlir_smem import interop
from mlir_smem.runtime import run_on_cpu

M, N, K = 64, 64, 64

TILE = f"!smem.tile<tensor<{M}x{K}xbf16>, #smem.auto>"
IN_FLIGHT = f"!smem.fragment<tensor<{M}x{N}xf32>, #smem.in_flight>"
ACCUMULATOR = f"!smem.fragment<tensor<{M}x{N}xf32>, #smem.accumulator>"
SIGNATURE = f"(memref<{M}x{K}xbf16>, memref<{K}x{N}xbf16>, memref<{M}x{N}xf32>) -> ()"


def op(
    name: str, *operands: ir.Value, results: tuple[str, ...] = (), **attributes: str
) -> ir.Value:
    """Create an op at the current insertion point; return its first result, or None."""
    operation = ir.Operation.create(
        name,
        results=[ir.Type.parse(type_) for type_ in results],
        operands=list(operands),
        attributes={key: ir.Attribute.parse(text) for key, text in attributes.items()},
    )
    return operation.results[0] if results else None


def kernel(context: ir.Context) -> ir.Module:
    """Return the kernel `mma(A, B, D)`, D = A * B of one warpgroup, as a module of IREE."""
    context.allow_unregistered_dialects = True
    with context, ir.Location.file("iree_host.py", 1, 1):
        module = ir.Module.parse(
            f"""gpu.module @kernels {{
              "gpu.func"() <{{function_type = {SIGNATURE}, kernel, sym_name = "mma",
                             known_block_size = array<i32: 128, 1, 1>}}> ({{
              ^entry(%A: memref<{M}x{K}xbf16>, %B: memref<{K}x{N}xbf16>, %D: memref<{M}x{N}xf32>):
                gpu.return
              }}) : () -> ()
            }}"""
        )
        function = module.body.operations[0].regions[0].blocks[0].operations[0]
        entry = function.regions[0].blocks[0]
        a, b, d = entry.arguments
        with ir.InsertionPoint.at_block_begin(entry):
            tiles = [op("smem.alloc", results=(TILE,)) for _ in range(2)]
            for source, tile in zip((a, b), tiles, strict=True):
                op("smem.copy", source, tile)
            op("smem.fence")
            op("gpu.barrier")
            started = op("smem.mma", *tiles, results=(IN_FLIGHT,))
            result = op("smem.wait", started, results=(ACCUMULATOR,), pending="0 : i32")
            op("smem.store", result, d)
    return module


def run(module: ir.Module, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return D = A * B of a module of IREE, computed by the emulator."""
    compiled = mlir_smem.compile(module, emit="nvvm")
    return run_on_cpu(compiled, "mma", {"arg0": a, "arg1": b}, ["arg2"], (1,))["arg2"]


def main() -> None:
    lowered = interop.lower(kernel(ir.Context()))
    assert lowered.operation.verify()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(ml_dtypes.bfloat16) for shape in ((M, K), (K, N)))
    exact = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(run(lowered, a, b), exact)
    print(f"{str(lowered).count('nvvm.wgmma.mma_async')} wgmma in IREE's module; D is A * B")


if __name__ == "__main__":
    main()
