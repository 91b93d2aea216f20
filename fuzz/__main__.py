"""Run every fuzzer in parallel on the available cores."""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from secrets import randbelow

from .frame.fuzzer import ROOT

NAMES = (
    "modules",
    "programs",
    "sync",
    "metamorphic",
    "language",
    "plain_loops",
    "layout",
    "files",
    "cache",
    "llvm",
    "torch_functions",
)

#: Packages that a fuzzer needs, which may not be installed.
NEEDS = {"torch_functions": "torch"}


def main() -> int:
    """Run the fuzzers; return 1 if one found a failure."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    time = parser.add_mutually_exclusive_group()
    time.add_argument(
        "--seconds", type=float, default=3600.0, help="seconds for all fuzzers; default: 3600"
    )
    time.add_argument("--each", type=float, help="seconds for each fuzzer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="default: all cores")
    parser.add_argument("--seed", type=int, default=randbelow(1 << 32), help="default: random")
    options = parser.parse_args()
    names = [name for name in NAMES if name not in NEEDS or find_spec(NEEDS[name])]
    for name in sorted({*NAMES} - {*names}):
        print(f"fuzz.{name} is left out: {NEEDS[name]} is not installed", flush=True)
    # The number of fuzzers that run at the same time.
    parallel = min(options.jobs, len(names))
    seconds = options.each or options.seconds * parallel / len(names)
    arguments = ["--seconds", seconds, "--seed", options.seed, "--jobs", options.jobs // parallel]

    def run(name: str) -> int:
        command = [sys.executable, "-m", f"fuzz.{name}", *map(str, arguments)]
        completed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        print(completed.stdout + completed.stderr, end="", flush=True)
        return completed.returncode

    with ThreadPoolExecutor(parallel) as pool:
        return 1 if any([*pool.map(run, names)]) else 0


if __name__ == "__main__":
    raise SystemExit(main())
