"""Our GEMM, cuBLAS, Triton, JAX's Mosaic GPU and QuACK on one GPU, interleaved.

    python benchmarks/gemm.py [--only bf16 s8] [--shapes 4096x4096x4096 ...] [--modes sustained burst]
        [--contenders ours cublas triton mosaic quack] [--rounds 7] [--budget 15] [--markdown]
        [--record FILE]

All run in one process, interleaved round by round and timed by CUDA's events around batches of
GEMMs, medians over the rounds; the host's clock is recorded, too. *Sustained* is a warm chip
at its power limit, batches of 30 ms without a pause; *burst* a cool one, batches of 3 ms with pauses.
A first unit of each batch is not timed. cuBLAS, Triton and ours run as CUDA graphs and Mosaic as
compiled calls of several GEMMs, so that no launch costs host time.

Random data (normal numbers, integers of the whole range), the same arrays in every call: small ones
stay in the L2 cache, for everyone. Results are checked against float64 on 256 rows; a wrong one ends
the run. cuBLAS and ours run in each layout, Triton and Mosaic (bf16 only) in those configurations that
do best in a short search, as many as fit in the budget of seconds for a shape and contender, and QuACK
(bf16, K-major A) with what its tuner finds, if the package is installed; a family counts with its
fastest in that mode. Rows of an earlier record that were not measured anew stay in it.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import row_runs
import torch
from chip import Chip
from gemm_rows import Row, make_row
from gemms import TYPES, Gemm
from interleaved import MODES, Mode, finalists, measure
from torch_contenders import StreamContender, cublas, ours

CONTENDERS = ("ours", "cublas", "triton", "mosaic", "quack")
FINALISTS = 2
# Seconds of one unit, at this rate.
_UNIT_SECONDS = 0.5e-3
_UNIT_RATE = 700e12


def per_unit(gemm: Gemm) -> int:
    """GEMMs of a unit."""
    return min(32, max(1, round(_UNIT_SECONDS * _UNIT_RATE / gemm.operations)))


def contenders(
    gemm: Gemm, names: Iterable[str], gemms: int, budget: float
) -> tuple[list[Any], dict[str, str]]:
    """The contenders of a GEMM, and the reasons for those left out, by name."""
    built, left_out = [], {}
    for name, build in _builders(gemm, names, gemms, budget):
        try:
            built += build()
        except Exception as error:  # a contender that cannot run here must not stop the others
            left_out[name] = f"{type(error).__name__}: {error}"
            print(f"{name} is left out: {left_out[name]}", file=sys.stderr)
    return built, left_out


def _builders(
    gemm: Gemm, names: Iterable[str], gemms: int, budget: float
) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    """The factories of contenders, by family and layout."""
    for layout in gemm.operands:
        if "ours" in names:
            yield f"ours {layout}", partial(_ours, gemm, layout, gemms)
        if "cublas" in names:
            yield f"cuBLAS {layout}", partial(_cublas, gemm, layout, gemms)
    if gemm.type is TYPES["bf16"] and "triton" in names:
        yield "Triton", partial(_triton, gemm, gemms, budget)
    if gemm.type is TYPES["bf16"] and "mosaic" in names:
        yield "Mosaic", partial(_mosaic, gemm, gemms, budget)
    if gemm.type is TYPES["bf16"] and "quack" in names:
        yield "QuACK", partial(_quack, gemm, gemms)


def _ours(gemm: Gemm, layout: str, gemms: int) -> list[Any]:
    return [
        StreamContender(f"ours {layout}{suffix}", enqueue, gemm.out, gemms, config)
        for suffix, enqueue, config in ours(*gemm.operands[layout], gemm.out)
    ]


def _cublas(gemm: Gemm, layout: str, gemms: int) -> list[Any]:
    enqueue = cublas(*gemm.operands[layout], gemm.out)
    return [StreamContender(f"cuBLAS {layout}", enqueue, gemm.out, gemms)]


def _triton(gemm: Gemm, gemms: int, budget: float) -> list[Any]:
    import triton_matmul

    k_major = {layout: gemm.operands[layout] for layout in ("TN", "NN")}
    candidates = triton_matmul.contenders(k_major, gemm.out, gemms, budget)
    return finalists(list(candidates), FINALISTS)


def _mosaic(gemm: Gemm, gemms: int, budget: float) -> list[Any]:
    import mosaic_matmul

    candidates = mosaic_matmul.contenders(*gemm.operands["NN"], gemms, budget)
    return finalists(list(candidates), FINALISTS)


def _quack(gemm: Gemm, gemms: int) -> list[Any]:
    import quack_matmul

    k_major = {layout: gemm.operands[layout] for layout in ("TN", "NN")}
    return list(quack_matmul.contenders(k_major, gemm.out, gemms))


def compare(
    kind: str, gemm: Gemm, modes: Iterable[Mode], options: argparse.Namespace
) -> Iterator[Row]:
    """A row for each mode; WrongResultError if a result is wrong."""
    timed, left_out = contenders(gemm, options.contenders, per_unit(gemm), options.budget)
    errors = {contender.name: gemm.check(contender.name, contender.result()) for contender in timed}
    for mode in modes:
        with Chip() as chip:
            times = measure(timed, mode, options.rounds)
        row = make_row(kind, gemm.shape, mode.name, gemm.operations, times, errors, chip.summary())
        for contender in timed:
            row["contenders"][contender.name] |= {
                "us by the host's clock": round(times[contender.name].host_seconds * 1e6, 2),
                "products in a unit": contender.gemms,
                "config": contender.config,
            }
        yield row | {"left out": left_out}


def shape_of(text: str) -> tuple[int, ...]:
    """Parse `MxNxK`, for argparse."""
    try:
        shape = tuple(int(part) for part in text.split("x"))
    except ValueError:
        shape = ()
    if len(shape) != 3 or min(shape) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not MxNxK, for example 4096x4096x4096")
    return shape


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", nargs="+", choices=TYPES, default=list(TYPES))
    arguments.add_argument("--shapes", nargs="+", type=shape_of, help="instead of each type's own")
    arguments.add_argument("--modes", nargs="+", choices=MODES, default=list(MODES))
    arguments.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    arguments.add_argument("--budget", type=float, default=15, help="seconds to look for the best")
    row_runs.add_arguments(arguments)
    options = row_runs.parse(arguments)

    def of_shape(name: str, shape: tuple[int, ...]) -> Iterator[Row]:
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        modes = [MODES[mode] for mode in options.modes]
        return compare(name, Gemm(TYPES[name], shape), modes, options)

    problems = (
        partial(of_shape, name, shape)
        for name in options.only
        for shape in options.shapes or TYPES[name].shapes
    )
    return 1 if row_runs.run(problems, options) is None else 0


if __name__ == "__main__":
    sys.exit(main())
