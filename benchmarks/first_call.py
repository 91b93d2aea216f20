"""Time of the first call of a GEMM: in a new process, and of a new configuration in a running one.

    python benchmarks/first_call.py [--processes 5] [--record FILE]

Each process imports the package, calls `matmul` for one shape, and then for another one, whose kernel is
another. The cache is an empty folder; `cached` is a process that finds its kernels in it. Without a GPU,
the calls choose a configuration and compile its kernel, and launch nothing. Results are medians of the
processes, in seconds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from record import record

#: Runs in the processes; prints seconds by part.
SCRIPT = """
import json, sys, time

try:
    import torch
    gpu = torch.cuda.is_available()
except ImportError:
    gpu = False
shapes = (1000, 3000, 2000), (64, 4096, 4096)
if gpu:
    arrays = [(torch.ones(m, k, device="cuda").bfloat16(), torch.ones(k, n, device="cuda").bfloat16())
              for m, n, k in shapes]
    torch.cuda.synchronize()
start = time.perf_counter()
if gpu:
    from mlir_smem.kernels.gemm import matmul
else:
    from mlir_smem.kernels.gemm import Problem, choose
    from mlir_smem.kernels.gemm.generator.kernel import text
    from mlir_smem.runtime import cached_compile
times = [time.perf_counter()]
for i in range(2):
    if gpu:
        matmul(*arrays[i])
        torch.cuda.synchronize()
    else:
        cached_compile(text(Problem(), choose(Problem(), *shapes[i])))
    times.append(time.perf_counter())
print(json.dumps({"gpu": gpu, "times": [end - begin for begin, end in zip([start, *times], times)]}))
"""

PARTS = ("import", "first call", "call of another configuration")


def measure(cache: str) -> tuple[bool, list[float]]:
    """Return whether a process had a GPU, and seconds of its parts."""
    environment = {**os.environ, "MLIR_SMEM_CACHE": cache, "MLIR_SMEM_TUNED": "off"}
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    output = json.loads(process.stdout.splitlines()[-1])
    return output["gpu"], output["times"]


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--processes", type=int, default=5)
    arguments.add_argument("--record", type=Path, help="write the result to this file")
    options = arguments.parse_args()
    compiled, cached = [], []
    gpu = False
    for _ in range(options.processes):
        with tempfile.TemporaryDirectory() as folder:
            gpu, times = measure(folder)
            compiled.append(times)
            cached.append(measure(folder)[1])
    medians = {
        name: dict(
            zip(PARTS, (round(median(part), 3) for part in zip(*runs, strict=True)), strict=True)
        )
        for name, runs in (("compiled", compiled), ("cached", cached))
    }
    for name, parts in medians.items():
        for part, seconds in parts.items():
            print(f"{name:9} {part:30} {seconds:.3f} s")
    if options.record:
        record(options.record, {"gpu": gpu, "processes": options.processes, "seconds": medians})


if __name__ == "__main__":
    main()
