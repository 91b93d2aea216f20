"""Random kernels on a Hopper GPU, compared with the emulator (bytes) and with NumPy (values).

python -m fuzz.chip --count 10000 --seed 1 --record benchmarks/results/random-programs-h200.json

`python -m fuzz` does not run it, since it needs a GPU. Kernel I follows from the seed and I; `--only I`
runs one.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from random import Random
from typing import NamedTuple

import numpy as np
from benchmarks.record import record

import mlir_smem
from mlir_smem.runtime import run_on_cpu, run_on_gpu

from .generated.choices import Drawn
from .generated.kernels import Kernel
from .programs import kernel_of

#: Kernels that a worker runs at a time.
_CHUNK = 20


class Ran(NamedTuple):
    """The outcome of a kernel.

    Attributes:
        index: the kernel's number.
        generator: the generator of the kernel.
        size: the bytes of the result.
        failure: what is wrong; empty if nothing is.
    """

    index: int
    generator: str
    size: int
    failure: str


def drawn(seed: int, index: int) -> tuple[str, Kernel]:
    """Draw kernel `index`; return the choices and the kernel."""
    random = Random(f"{seed}/{index}")
    while True:
        choose = Drawn(random)
        kernel = kernel_of(choose)
        if kernel is not None and kernel.arch == "sm_90a":
            return choose.text, kernel


def run(seed: int, index: int) -> Ran:
    """Run a kernel on the GPU and on the emulator."""
    text, kernel = drawn(seed, index)
    generator = next((x for x in ("pipeline", "blocks") if f"generator = '{x}'" in text), "gemm")
    try:
        compiled = mlir_smem.compile(kernel.text, reserved_bytes=kernel.reserved_bytes)
        # The emulator runs the module that the machine code was made from.
        compiled = replace(compiled, bytecode=compiled.nvvm.encode())
        emulated, measured = (
            where(compiled, kernel.entry, dict(kernel.inputs), [kernel.output], kernel.grid)[
                kernel.output
            ]
            for where in (run_on_cpu, run_on_gpu)
        )
    except Exception as error:
        return Ran(index, generator, 0, f"{type(error).__name__}: {error}")
    failure = ""
    if emulated.tobytes() != measured.tobytes():
        failure = f"{int((emulated != measured).sum())} elements differ from the emulator's"
    elif not (np.abs(measured.astype(np.float64) - kernel.exact) <= kernel.bound).all():
        failure = "the result is wrong"
    return Ran(index, generator, emulated.nbytes, failure)


def run_all(seed: int, first: int) -> list[Ran]:
    """Run a chunk of kernels."""
    return [run(seed, index) for index in range(first, first + _CHUNK)]


def main() -> int:
    """Run kernels on all cores; return 1 if any failed."""
    parser = argparse.ArgumentParser(prog="fuzz.chip", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="number of kernels")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, metavar="I", help="print kernel I and run only it")
    parser.add_argument("--jobs", type=int, default=max((os.cpu_count() or 2) - 1, 1))
    parser.add_argument("--record", help="file of the record")
    given = parser.parse_args()
    if given.only is not None:
        print(*drawn(given.seed, given.only), sep="\n")
        found = [run(given.seed, given.only)]
    else:
        found = _in_parallel(given)
    failures = [ran for ran in found if ran.failure]
    for ran in failures:
        print(f"{ran.index} ({ran.generator}): {ran.failure}")
    counts = dict(sorted(Counter(ran.generator for ran in found).items()))
    print(f"seed {given.seed}: {len(found)} kernels {counts}, {len(failures)} wrong")
    if given.record:
        result = {
            "seed": given.seed,
            "kernels": counts,
            "bytes_compared": sum(ran.size for ran in found),
            "wrong": {str(ran.index): ran.failure for ran in failures},
        }
        record(given.record, result)
    return int(bool(failures))


def _in_parallel(given: argparse.Namespace) -> list[Ran]:
    end, found = time.monotonic() + given.seconds, []
    with ProcessPoolExecutor(given.jobs, get_context("spawn")) as pool:
        chunks = [pool.submit(run_all, given.seed, i) for i in range(0, given.count, _CHUNK)]
        for chunk in as_completed(chunks):
            found += [] if chunk.cancelled() else chunk.result()
            if time.monotonic() > end:
                for other in chunks:
                    other.cancel()
    return sorted(found)


if __name__ == "__main__":
    sys.exit(main())
