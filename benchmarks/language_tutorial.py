"""The steps of docs/language_tutorial.md on a GPU, against torch.mm.

    python benchmarks/language_tutorial.py [--rounds 15] [--record FILE]

The kernels are those of the page. A and B are random bf16 matrices, C is bf16; M = N = K = 8192. All
contenders alternate in each round, sustained (`interleaved.py`). Each result is compared with torch.mm.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from interleaved import MODES, measure
from record import record

from mlir_smem.runtime.gpu import Kernel as Launchable

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS))
from sessions import files_of  # noqa: E402

SIZE = 8192

#: The name of the file and of the kernel, for each session of the page that runs it.
STEPS = {
    "2 tiles over the grid": ("grid.py", "tiles", 0),
    "3 cp.async, 4 stages": ("stages.py", "stages", 0),
    "4 TMA and a pipeline": ("tma.py", "tma", 0),
    "5 two consumers": ("tma.py", "tma", 1),
    "6 persistent": ("persistent.py", "gemm", 0),
}


def kernel_of(file: str, name: str, change: int) -> Any:
    """Return a kernel of the page, after a number of changes of its file; nothing is checked."""
    sys.modules["check"] = ModuleType("check")
    vars(sys.modules["check"])["check"] = lambda *_, **__: None
    module = ModuleType(Path(file).stem)
    exec(compile(files_of(DOCS / "language_tutorial.md", file)[change], file, "exec"), vars(module))
    return vars(module)[name]


@dataclass
class TimedProduct:
    """A product that is timed: launches on the current stream."""

    name: str
    launch: Any
    gemms: int = 1

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


def main() -> None:
    """Measure, print and record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--record", metavar="FILE")
    options = parser.parse_args()
    a, b = (torch.randn(SIZE, SIZE, device="cuda").bfloat16() for _ in range(2))
    expected = torch.mm(a, b)
    scratch = torch.empty_like(expected)
    contenders = [TimedProduct("torch.mm", lambda: torch.mm(a, b, out=scratch))]
    for step, (file, name, change) in STEPS.items():
        kernel, c = kernel_of(file, name, change), torch.zeros_like(expected)
        blocks = None
        if name == "gemm":
            launchable = Launchable(kernel.compile(*["bf16"] * 3))
            blocks = (launchable.resident_blocks(),)
        prepared = (kernel[blocks] if blocks else kernel).prepare(a, b, c)
        prepared.launch(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
        assert torch.allclose(c.float(), expected.float(), rtol=2e-2, atol=1.0), step
        contenders.append(
            TimedProduct(step, lambda p=prepared: p.launch(torch.cuda.current_stream().cuda_stream))
        )
    times = measure(contenders, MODES["sustained"], options.rounds)
    rows = {
        name: {
            "tflops": round(2 * SIZE**3 / step_times.seconds / 1e12, 1),
            "of_torch": round(times["torch.mm"].seconds / step_times.seconds, 3),
            "spread": round(step_times.spread, 3),
        }
        for name, step_times in times.items()
    }
    for name, row in rows.items():
        print(f"{name:24}{row['tflops']:8} TFLOP/s {row['of_torch']:7} of torch.mm")
    if options.record:
        record(options.record, {"size": SIZE, "steps": rows})


if __name__ == "__main__":
    main()
