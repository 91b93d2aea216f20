"""Time from a module of PyTorch to an executable: the first time, and from the cache.

    python benchmarks/from_torch_time.py [--processes 3] [--record FILE]

An MLP (256, 512) and a block of Llama (`llama_block.py`, d = 512) in bf16 are compiled twice in each
process. The first process of a pair has an empty cache, the second one finds what the first has kept.
Imports are not counted. No GPU is needed. Results are medians of the processes, in seconds.
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

#: Runs in the processes, with the name of the module; prints seconds.
SCRIPT = """
import json, sys, time
import torch
from llama_block import Block, Sizes
from mlir_smem import from_torch

torch.manual_seed(0)
if sys.argv[1] == "MLP":
    module = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.GELU(), torch.nn.Linear(512, 256))
    x = torch.randn(64, 256)
else:
    module, x = Block(Sizes(512, 8, 2, 1024), 128), torch.randn(2, 128, 512)
module = module.to(torch.bfloat16)
times = [time.perf_counter()]
for _ in range(2):
    from_torch(module, x.bfloat16())
    times.append(time.perf_counter())
print(json.dumps([end - begin for begin, end in zip(times, times[1:])]))
"""

MODULES = ("MLP", "Llama block")
PARTS = ("first", "again", "from the cache", "from the cache, again")


def measure(module: str, cache: str) -> list[float]:
    """Return the seconds of both compilations of a process."""
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT, module],
        env={**os.environ, "MLIR_SMEM_CACHE": cache, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds: list[float] = json.loads(process.stdout.splitlines()[-1])
    return seconds


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--processes", type=int, default=3)
    arguments.add_argument("--record", type=Path, help="write the result to this file")
    options = arguments.parse_args()
    seconds = {}
    for module in MODULES:
        runs = []
        for _ in range(options.processes):
            with tempfile.TemporaryDirectory() as folder:
                runs.append([*measure(module, folder), *measure(module, folder)])
        medians = [round(median(part), 3) for part in zip(*runs, strict=True)]
        seconds[module] = dict(zip(PARTS, medians, strict=True))
        for part, time in seconds[module].items():
            print(f"{module:12} {part:22} {time:.3f} s")
    if options.record:
        data = {"processes": options.processes, "cpus": os.cpu_count(), "seconds": seconds}
        record(options.record, data)


if __name__ == "__main__":
    main()
