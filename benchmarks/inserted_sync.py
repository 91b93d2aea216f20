"""Kernels that `smem-insert-sync` synchronizes, against the same kernels synchronized by their author.

    python benchmarks/inserted_sync.py [--rounds 40] [--record FILE]

The kernels are those of `examples/*.py` and of `examples/manual_sync/*.py`: matmul and gemm of bf16
matrices, M = N = K = 8192, and causal attention of 8192 f16 queries. Both versions alternate in each
round, sustained (`interleaved.py`), and their results are compared byte for byte. Beside the times: the
ops that synchronize, in loops and outside.
"""

import argparse
from dataclasses import dataclass
from typing import Any

import torch
from interleaved import MODES, measure
from record import record

from fuzz.generated.program_order import sync_counts
from mlir_smem.dialect import new_context
from mlir_smem.examples import attention as inserted_attention
from mlir_smem.examples import gemm as inserted_gemm
from mlir_smem.examples import matmul as inserted_matmul
from mlir_smem.examples.manual_sync import attention as manual_attention
from mlir_smem.examples.manual_sync import gemm as manual_gemm
from mlir_smem.examples.manual_sync import matmul as manual_matmul
from mlir_smem.passes.insert_sync import InsertSync
from mlir_smem.runtime.gpu import Kernel as Launchable

SIZE = 8192

#: Of each example, the kernel without synchronization and that of its author.
KERNELS = {
    "matmul": (inserted_matmul.matmul, manual_matmul.matmul),
    "gemm": (inserted_gemm.gemm, manual_gemm.gemm),
    "attention": (inserted_attention.attention, manual_attention.attention),
}


@dataclass
class TimedKernel:
    """A kernel that is timed: launches on the current stream."""

    name: str
    prepared: Any
    gemms: int = 1

    def launch(self) -> None:
        """Launch it."""
        self.prepared.launch(torch.cuda.current_stream().cuda_stream)

    def batch(self, units: int) -> tuple[float, float]:
        """Run a first unit and `units` more; return the seconds of these by the GPU's clock."""
        self.launch()
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(units):
            self.launch()
        end.record()
        end.synchronize()
        seconds = start.elapsed_time(end) / 1e3
        return seconds, seconds


def arguments(name: str) -> tuple[list[Any], list[Any]]:
    """Return the inputs and the outputs of a kernel."""
    if name == "attention":
        queries = [torch.randn(SIZE, 64, device="cuda").half() for _ in range(3)]
        return [*queries, 0.18], [
            torch.zeros(SIZE, 64, device="cuda"),
            torch.zeros(SIZE, device="cuda"),
        ]
    matrices = [torch.randn(SIZE, SIZE, device="cuda").bfloat16() for _ in range(2)]
    return matrices, [torch.zeros(SIZE, SIZE, device="cuda").bfloat16()]


def types(name: str) -> list[str]:
    """Return the element types of a kernel's parameters."""
    return ["f16"] * 3 + ["f32"] * 3 if name == "attention" else ["bf16"] * 3


def counts(kernel: Any, name: str) -> dict[str, int]:
    """Return how many ops that synchronize are in loops, and how many outside."""
    with new_context():
        module = kernel.trace(*types(name))
        if kernel.options.inserts_sync:
            InsertSync().run(module)
        counts_by_place = {"in loops": 0, "outside": 0}
        for (loop, _), count in sync_counts(module).items():
            counts_by_place["in loops" if loop else "outside"] += count
    return counts_by_place


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--record", metavar="FILE")
    options = parser.parse_args()
    rows = {}
    for name, kernels in KERNELS.items():
        inputs, outputs = arguments(name)
        versions, results = [], []
        for version, kernel in zip(("inserted", "by its author"), kernels, strict=True):
            version_outputs = [torch.zeros_like(x) for x in outputs]
            blocks = None
            if name == "gemm":
                blocks = (Launchable(kernel.compile(*types(name))).resident_blocks(),)
            prepared = (kernel[blocks] if blocks else kernel).prepare(*inputs, *version_outputs)
            versions.append(TimedKernel(version, prepared))
            versions[-1].launch()
            torch.cuda.synchronize()
            results.append(version_outputs)
        assert all(map(torch.equal, *results)), name
        if name != "attention":
            expected = torch.mm(*inputs).float()
            assert torch.allclose(results[0][0].float(), expected, rtol=2e-2, atol=1.0), name
        times = measure(versions, MODES["sustained"], options.rounds)
        inserted, written = (times[version.name] for version in versions)
        rows[name] = {
            "microseconds": round(inserted.seconds * 1e6, 2),
            "of_the_author": round(inserted.seconds / written.seconds, 4),
            "spread": round(inserted.spread, 3),
            "inserted": counts(kernels[0], name),
            "by its author": counts(kernels[1], name),
        }
        print(f"{name:10} {rows[name]}")
    if options.record:
        record(options.record, {"size": SIZE, "kernels": rows})


if __name__ == "__main__":
    main()
