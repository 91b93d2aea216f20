"""Our GEMM and cuBLAS at odd shapes: rows that are no multiples of 16 bytes, untuned.

    python benchmarks/odd_gemms.py [--only bf16] [--modes sustained burst] [--rounds 7] [--seed 20]
        [--count 20] [--record FILE]

M, N and K are drawn log-uniformly; K and N are odd, so every row of dense A, B and C is. Both contenders
get an array for the result, ours copies what TMA cannot read or write: the copies are in its times. The
method is that of `gemm.py`, and so is the check.
"""

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from math import exp, log
from pathlib import Path
from random import Random
from statistics import geometric_mean
from tempfile import TemporaryDirectory

import torch
from chip import Chip
from gemm import per_unit
from gemm_rows import Row, write
from gemms import TYPES, Gemm, WrongResultError
from interleaved import MODES, Mode, measure
from torch_contenders import OnStream, cublas

#: Extents that are drawn, and operations of a product at most: 8192^3 takes 1.6 ms.
_LEAST, _MOST, _MOST_OPERATIONS = 64, 8192, 2 * 8192**3


def odd_shapes(seed: int, count: int) -> list[tuple[int, int, int]]:
    """M, N, K drawn with a seed; N and K are odd."""
    random = Random(seed)
    found: list[tuple[int, int, int]] = []
    while len(found) < count:
        m, n, k = (round(exp(random.uniform(log(_LEAST), log(_MOST)))) for _ in range(3))
        shape = m, n | 1, k | 1
        if 2 * shape[0] * shape[1] * shape[2] <= _MOST_OPERATIONS:
            found.append(shape)
    return found


def _ours(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> Callable[[], object]:
    from mlir_smem.kernels.gemm import matmul

    return partial(matmul, a, b, out)


def compared(kind: str, shape: tuple[int, int, int], modes: list[Mode], rounds: int) -> list[Row]:
    """A row for each mode; WrongResultError if a result is wrong."""
    gemm = Gemm(TYPES[kind], shape)
    count = per_unit(gemm)
    found = [
        OnStream(f"{family} {layout}", make(*operands, gemm.out), gemm.out, count)
        for family, make in (("ours", _ours), ("cuBLAS", cublas))
        for layout, operands in gemm.operands.items()
    ]
    errors = {each.name: gemm.check(each.name, each.result()) for each in found}
    rows: list[Row] = []
    for mode in modes:
        with Chip() as chip:
            times = measure(found, mode, rounds)
        rows.append(
            {
                "type": kind,
                "shape": list(shape),
                "mode": mode.name,
                "rounds": rounds,
                "contenders": {
                    each.name: {
                        "tflops": round(gemm.operations / times[each.name].seconds / 1e12, 1),
                        "us": round(times[each.name].seconds * 1e6, 2),
                        "spread": round(times[each.name].spread, 4),
                        "error": errors[each.name],
                    }
                    for each in found
                },
                "chip": chip.summary(),
            }
        )
    return rows


def ratio(row: Row) -> float:
    """The speed of our fastest layout, relative to cuBLAS's fastest."""
    best = {
        family: min(v["us"] for k, v in row["contenders"].items() if k.startswith(family))
        for family in ("ours", "cuBLAS")
    }
    return best["cuBLAS"] / best["ours"]


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    # cuBLAS refuses odd rows of 8-bit types.
    arguments.add_argument("--only", nargs="+", choices=("bf16", "tf32"), default=["bf16"])
    arguments.add_argument("--modes", nargs="+", choices=MODES, default=["sustained"])
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seed", type=int, default=20)
    arguments.add_argument("--count", type=int, default=20)
    arguments.add_argument("--record", type=Path, help="write the rows to this file, or add them")
    options = arguments.parse_args()
    with TemporaryDirectory() as folder:
        os.environ["MLIR_SMEM_CACHE"] = folder  # it has no tuned configurations
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    modes = [MODES[mode] for mode in options.modes]
    ratios: dict[str, list[float]] = {mode.name: [] for mode in modes}
    for kind in options.only:
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        for shape in odd_shapes(options.seed, options.count):
            try:
                rows = compared(kind, shape, modes, options.rounds)
            except WrongResultError as error:
                print(f"error: {error}", file=sys.stderr)
                return 1
            for row in rows:
                row["seed"] = options.seed
                ratios[row["mode"]].append(ratio(row))
                print(kind, *shape, row["mode"], f"{ratio(row):.3f}", flush=True)
            if options.record:
                write(options.record, rows)
    for mode, found in ratios.items():
        print(f"{mode}: {geometric_mean(found):.3f} of cuBLAS in the geometric mean")
    return 0


if __name__ == "__main__":
    sys.exit(main())
