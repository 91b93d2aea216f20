"""Our GEMM without tuning, and cuBLAS: shapes of language models, random ones, and odd ones.

    python benchmarks/any_shape.py [--set models random odd] [--only bf16 e4m3 s8] [--tuned]
        [--budget SECONDS] [--modes sustained burst] [--rounds 7] [--seed 20] [--count 40] [--record FILE]

*models* are shapes of language models, small squares and ragged ones. *random* shapes have M, N and K
drawn log-uniformly from the multiples of 8 up to 16384. *odd* ones have odd K and N, so that every row of
dense A, B and C begins at no multiple of 16 bytes; ours copies what TMA cannot read or write, within its
time.

Ours is `matmul` as it is called first: neither tuned configurations nor the package's tables are read.
With `--tuned` there is also the one that `tune` finds, as a family of its own. Of 8-bit types the first
12 shapes are taken that cuBLAS multiplies: M above 16, and rows of multiples of 16 bytes. The method is
that of `gemm.py`, and so is the check; for each family, the fastest layout counts.
"""

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from math import exp, log
from pathlib import Path
from random import Random
from statistics import geometric_mean

import torch
from chip import Chip
from gemm import per_unit
from gemm_rows import Row, make_row, write
from gemms import TYPES, Gemm, WrongResultError
from interleaved import MODES, Mode, measure
from torch_contenders import StreamContender, cublas, launching

Shape = tuple[int, int, int]

#: M, N, K of products in language models, small squares, ragged ones, and few tiles of long K.
MODELS: list[Shape] = [
    (1, 4096, 4096),
    (16, 4096, 4096),
    (64, 4096, 4096),
    (64, 14336, 4096),
    (128, 8192, 8192),
    (256, 6144, 4096),
    (512, 512, 512),
    (512, 4096, 11008),
    (1024, 1024, 1024),
    (1000, 1000, 1000),
    (128, 128, 16384),
    (256, 256, 8192),
    (4096, 4096, 64),
    (2048, 6144, 2048),
    (3000, 5000, 1200),
    (4096, 28672, 4096),
    (8192, 3584, 18944),
    (65536, 256, 256),
]

#: Odd extents that are drawn, and operations of such a product at most: 8192^3 takes 1.6 ms.
_LEAST, _MOST, _MOST_OPERATIONS = 64, 8192, 2 * 8192**3

#: MLIR's element types of the operands and the result.
_ELEMENTS = {
    "bf16": ("bf16", "bf16"),
    "tf32": ("f32", "f32"),
    "e4m3": ("f8E4M3FN", "bf16"),
    "s8": ("i8", "i32"),
}

#: Shapes of 8-bit types, and what cuBLAS demands of them.
_NARROW, _LEAST_ROWS, _MULTIPLE = 12, 17, 16

#: Random extents are multiples of the first, and at most so many times it.
_UNIT, _MOST_UNITS = 8, 2048


def shapes(name: str, seed: int, count: int) -> list[Shape]:
    """M, N, K of a set of shapes."""
    if name == "models":
        return MODELS
    return (odd_shapes if name == "odd" else random_shapes)(seed, count)


def cublas_shapes(kind: str, all_shapes: list[Shape]) -> list[Shape]:
    """The shapes that cuBLAS multiplies in a type."""
    if kind not in ("e4m3", "s8"):
        return all_shapes
    fitting = [
        (m, n, k)
        for m, n, k in all_shapes
        if m >= _LEAST_ROWS and n % _MULTIPLE == 0 and k % _MULTIPLE == 0
    ]
    return fitting[:_NARROW]


def odd_shapes(seed: int, count: int) -> list[Shape]:
    """M, N, K drawn with a seed; N and K are odd."""
    random = Random(seed)
    drawn: list[Shape] = []
    while len(drawn) < count:
        m, n, k = (round(exp(random.uniform(log(_LEAST), log(_MOST)))) for _ in range(3))
        shape = m, n | 1, k | 1
        if 2 * shape[0] * shape[1] * shape[2] <= _MOST_OPERATIONS:
            drawn.append(shape)
    return drawn


def random_shapes(seed: int, count: int) -> list[Shape]:
    """M, N, K drawn with a seed."""
    random = Random(seed)
    log_most = log(_MOST_UNITS)
    return [
        tuple(_UNIT * round(exp(random.uniform(0, log_most))) for _ in range(3))  # type: ignore[misc]
        for _ in range(count)
    ]


def compile_all(kind: str, all_shapes: list[Shape]) -> None:
    """Compile the kernels of all shapes into the cache, in parallel."""
    from mlir_smem.kernels.gemm import Problem, ProblemError, choose
    from mlir_smem.kernels.gemm.generator.kernel import text
    from mlir_smem.runtime.tuning.compiling import compile_to_cache, local_processes

    element, result = _ELEMENTS[kind]
    majors = {"TN": ("k", "k"), "NN": ("k", "n"), "NT": ("m", "n")}
    texts: dict[str, None] = {}
    for layout in TYPES[kind].layouts:
        try:
            problem = Problem(element, element, result, *majors[layout])
        except ProblemError:  # `matmul` transposes such a B first
            continue
        for shape in all_shapes:
            texts[text(problem, choose(problem, *shape))] = None
    with local_processes(os.cpu_count() or 1) as pool:
        for error_message in filter(None, pool.map(compile_to_cache, texts)):
            print(f"a kernel is not compiled: {error_message}", file=sys.stderr)


def _tune(
    a: torch.Tensor, b: torch.Tensor, out: torch.Tensor, budget: float | None
) -> Callable[[], object]:
    from mlir_smem.kernels.gemm import prepare, tune

    prepared = prepare(a, b, out, tune(a, b, out, progress=False, budget=budget))
    return launching(prepared)


def _ours(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> Callable[[], object]:
    from mlir_smem.kernels.gemm import matmul

    return partial(matmul, a, b, out)


def compare(
    kind: str, shape: tuple[int, int, int], modes: list[Mode], options: argparse.Namespace
) -> list[Row]:
    """A row for each mode; WrongResultError if a result is wrong."""
    gemm = Gemm(TYPES[kind], shape)
    count, rounds = per_unit(gemm), options.rounds
    families = [("ours", _ours), ("cuBLAS", cublas)]
    if options.tuned:
        families.append(("tuned", partial(_tune, budget=options.budget)))
    contenders = [
        StreamContender(f"{family} {layout}", make(*operands, gemm.out), gemm.out, count)
        for family, make in families
        for layout, operands in gemm.operands.items()
    ]
    errors = {contender.name: _error(gemm, contender) for contender in contenders}
    rows: list[Row] = []
    for mode in modes:
        with Chip() as chip:
            times = measure(contenders, mode, rounds)
        summary = chip.summary()
        rows.append(make_row(kind, shape, mode.name, gemm.operations, times, errors, summary))
    return rows


def _error(gemm: Gemm, contender: StreamContender) -> float | str:
    """The error of a result; the message of the error for cuBLAS's, which rounds partial sums to bf16."""
    try:
        return gemm.check(contender.name, contender.result())
    except WrongResultError as error:
        if not contender.name.startswith("cuBLAS"):
            raise
        return str(error)


def ratio(row: Row, ours: str = "ours") -> float:
    """The speed of our fastest layout, relative to cuBLAS's fastest; `ours` is the family."""
    best = {
        family: min(v["us"] for k, v in row["contenders"].items() if k.startswith(family))
        for family in (ours, "cuBLAS")
    }
    return best["cuBLAS"] / best[ours]


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", nargs="+", choices=_ELEMENTS, default=["bf16"])
    arguments.add_argument("--tuned", action="store_true", help="tune each shape, too")
    arguments.add_argument("--budget", type=float, help="seconds for `tune` of a shape and layout")
    arguments.add_argument("--modes", nargs="+", choices=MODES, default=["sustained"])
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--seed", type=int, default=20)
    arguments.add_argument("--count", type=int, default=40)
    arguments.add_argument(
        "--set", nargs="+", choices=("models", "random", "odd"), default=["models"]
    )
    arguments.add_argument("--record", type=Path, help="write the rows to this file, or add them")
    options = arguments.parse_args()
    if "odd" in options.set and {"e4m3", "s8"} & {*options.only}:
        arguments.error("cuBLAS multiplies no odd rows of 8-bit types")
    os.environ["MLIR_SMEM_TUNED"] = "off"
    return _run(options)


def _our_families(options: argparse.Namespace) -> list[str]:
    """Our families."""
    return ["ours", *(["tuned"] if options.tuned else [])]


def _run(options: argparse.Namespace) -> int:
    modes = [MODES[mode] for mode in options.modes]
    ratios: dict[str, list[float]] = {}
    for kind, name in product(options.only, options.set):
        torch.backends.cuda.matmul.allow_tf32 = kind == "tf32"
        all_shapes = cublas_shapes(kind, shapes(name, options.seed, options.count))
        if name != "odd":
            compile_all(kind, all_shapes)
        for shape in all_shapes:
            try:
                rows = compare(kind, shape, modes, options)
            except WrongResultError as error:
                print(f"error: {error}", file=sys.stderr)
                return 1
            for row in rows:
                row |= {"set": name, "seed": options.seed}
                family_ratios = {family: ratio(row, family) for family in _our_families(options)}
                for family, speed in family_ratios.items():
                    ratios.setdefault(f"{kind} {name} {row['mode']} {family}", []).append(speed)
                printed_ratios = (
                    f"{family} {speed:.3f}" for family, speed in family_ratios.items()
                )
                print(kind, *shape, row["mode"], *printed_ratios, flush=True)
            if options.record:
                write(options.record, rows)
    for name, values in ratios.items():
        mean, least = geometric_mean(values), min(values)
        print(f"{name}: {mean:.3f} of cuBLAS in the geometric mean, at least {least:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
