"""CPU seconds of `smem-insert-sync`, and from a traced kernel to NVVM, by the number of its steps.

    python benchmarks/proof_time.py [--steps 1 4 16 64 256] [--before FILE] [--record FILE]

A step is two copies to tiles and an mma of these, unrolled: over tiles of its own (up to 32 steps, which
shared memory holds), over a ring of four, and over that ring with asynchronous copies. In a partition, up
to 64 steps are a store to a tile and a load of it, over a ring of four. Then come the kernels of
`examples/*.py`. `questions` is how often the pass followed an access, or, where it asks about the
function as a whole, how often it did that. `--before` is a record of an earlier revision, whose rows
stand beside.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from record import record

import mlir_smem.language as sl
from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.examples import attention, gemm, matmul
from mlir_smem.ir.kernel import functions_of
from mlir_smem.passes.insert_sync import insert

ELEMENTS = (sl.bf16, sl.bf16, sl.f32)


def unrolled_kernel(steps: int, ring: int, copy: Any) -> Any:
    """Return a kernel of `steps` unrolled steps over `ring` tiles of A and of B; 0: each has its own."""

    @sl.kernel("(64,64), (64,64), (64,64)", warpgroups=1)
    def product(A, B, D):  # noqa: N803
        def tiles(count: int) -> tuple[Any, Any]:
            return sl.alloc((count, 64, 16), A.dtype), sl.alloc((count, 16, 64), B.dtype)

        shared = tiles(ring) if ring else None
        result = None
        for step in range(steps):
            a_tiles, b_tiles = shared or tiles(1)
            a, b = a_tiles[step % (ring or 1)], b_tiles[step % (ring or 1)]
            copy(A[:, 0:16], a)
            copy(B[0:16, :], b)
            result = sl.mma(a, b) if result is None else sl.mma(a, b, result)
        sl.store(result, D)

    return product


def partition_kernel(steps: int) -> Any:
    """Return a kernel with a partition of `steps` unrolled steps over four tiles."""

    @sl.kernel("(64,64), (64,64)", warpgroups=2)
    def exchange(A, D):  # noqa: N803
        tiles = [sl.alloc((64, 64), A.dtype) for _ in range(4)]
        with sl.warp_specialize():
            with sl.partition(1):
                pass
            with sl.partition(1):
                x = sl.load(A)
                for step in range(steps):
                    sl.store(x, tiles[step % 4])
                    x = sl.load(tiles[step % 4])
                sl.store(x, D)

    return exchange


UNROLLED = {
    "own tiles": (0, sl.copy),
    "ring": (4, sl.copy),
    "ring, asynchronous": (4, sl.copy_async),
}
EXAMPLES = {
    "matmul": (matmul.matmul, (sl.bf16,) * 3),
    "gemm": (gemm.gemm, (sl.bf16,) * 3),
    "attention": (attention.attention, (sl.f16,) * 3 + (sl.f32,) * 3),
}


def measure(kernel: Any, elements: tuple[Any, ...]) -> dict[str, Any]:
    """Return the seconds and the questions of a kernel."""
    with new_context():
        module = ir.Module.parse(kernel.mlir(*elements))
        start = time.process_time()
        insertions_by_function = [insert(function) for function in functions_of(module)]
        insertion = time.process_time() - start
    start = time.process_time()
    kernel.compile(*elements, emit="nvvm")
    return {
        "insertion_s": round(insertion, 4),
        "nvvm_s": round(time.process_time() - start, 3),
        "inserted": sum(len(insertions) for insertions in insertions_by_function),
        "questions": sum(
            getattr(insertions, "questions", 0) for insertions in insertions_by_function
        )
        or None,
    }


def main() -> None:
    """Print a row for each kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64, 128, 256])
    parser.add_argument("--before", type=Path, help="a record of an earlier revision")
    parser.add_argument("--record", type=Path, help="write a record to this file")
    options = parser.parse_args()
    measure(unrolled_kernel(1, 4, sl.copy), ELEMENTS)  # imports
    rows: dict[str, Any] = {}
    for name, (ring, copy) in UNROLLED.items():
        for steps in options.steps:
            if not ring and steps > 32:
                continue
            rows[f"{name}, {steps}"] = measure(unrolled_kernel(steps, ring, copy), ELEMENTS)
            print(f"{name}, {steps}", rows[f"{name}, {steps}"], flush=True)
    for steps in options.steps:
        if steps <= 64:
            kernel = partition_kernel(steps)
            rows[f"partition, {steps}"] = measure(kernel, (sl.bf16, sl.bf16))
            print(f"partition, {steps}", rows[f"partition, {steps}"], flush=True)
    for name, (kernel, elements) in EXAMPLES.items():
        rows[name] = measure(kernel, elements)
        print(name, rows[name], flush=True)
    results = {"rows": rows}
    if options.before:
        results["rows_before"] = json.loads(options.before.read_text())["rows"]
    if options.record:
        record(options.record, results)


if __name__ == "__main__":
    main()
