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

from .generated.choices import RandomChoices
from .generated.kernels import KernelCase
from .programs import kernel_of

#: Kernels that a worker runs at a time.
_CHUNK = 20


class KernelOutcome(NamedTuple):
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


def draw_kernel(seed: int, index: int) -> tuple[str, KernelCase]:
    """Draw kernel `index`; return the choices and the kernel."""
    random = Random(f"{seed}/{index}")
    while True:
        choose = RandomChoices(random)
        kernel = kernel_of(choose)
        if kernel is not None and kernel.arch == "sm_90a":
            return choose.text, kernel


def run(seed: int, index: int) -> KernelOutcome:
    """Run a kernel on the GPU and on the emulator."""
    text, kernel = draw_kernel(seed, index)
    generator = next((x for x in ("pipeline", "blocks") if f"generator = '{x}'" in text), "gemm")
    try:
        compiled = mlir_smem.compile(kernel.text, reserved_bytes=kernel.reserved_bytes)
        # The emulator runs the module that the machine code was made from.
        compiled = replace(compiled, bytecode=compiled.nvvm.encode())
        emulated, measured = (
            run_on(compiled, kernel.entry, dict(kernel.inputs), [kernel.output], kernel.grid)[
                kernel.output
            ]
            for run_on in (run_on_cpu, run_on_gpu)
        )
    except Exception as error:
        return KernelOutcome(index, generator, 0, f"{type(error).__name__}: {error}")
    failure = ""
    if emulated.tobytes() != measured.tobytes():
        failure = f"{int((emulated != measured).sum())} elements differ from the emulator's"
    elif not (np.abs(measured.astype(np.float64) - kernel.exact) <= kernel.bound).all():
        failure = "the result is wrong"
    return KernelOutcome(index, generator, emulated.nbytes, failure)


def run_all(seed: int, first: int) -> list[KernelOutcome]:
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
    options = parser.parse_args()
    if options.only is not None:
        print(*draw_kernel(options.seed, options.only), sep="\n")
        outcomes = [run(options.seed, options.only)]
    else:
        outcomes = _in_parallel(options)
    failures = [outcome for outcome in outcomes if outcome.failure]
    for outcome in failures:
        print(f"{outcome.index} ({outcome.generator}): {outcome.failure}")
    counts = dict(sorted(Counter(outcome.generator for outcome in outcomes).items()))
    print(f"seed {options.seed}: {len(outcomes)} kernels {counts}, {len(failures)} wrong")
    if options.record:
        result = {
            "seed": options.seed,
            "kernels": counts,
            "bytes_compared": sum(outcome.size for outcome in outcomes),
            "wrong": {str(outcome.index): outcome.failure for outcome in failures},
        }
        record(options.record, result)
    return int(bool(failures))


def _in_parallel(options: argparse.Namespace) -> list[KernelOutcome]:
    end, outcomes = time.monotonic() + options.seconds, []
    with ProcessPoolExecutor(options.jobs, get_context("spawn")) as pool:
        chunks = [pool.submit(run_all, options.seed, i) for i in range(0, options.count, _CHUNK)]
        for chunk in as_completed(chunks):
            outcomes += [] if chunk.cancelled() else chunk.result()
            if time.monotonic() > end:
                for other in chunks:
                    other.cancel()
    return sorted(outcomes)


if __name__ == "__main__":
    sys.exit(main())
