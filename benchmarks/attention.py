"""Our attention against cuDNN, FlashAttention-3 and FlashAttention-4.

    python benchmarks/attention.py [--only grid grouped short decode few speculative e4m3]
        [--modes sustained burst] [--contenders ours cuDNN FA3 FA4] [--dims 64 128 256] [--keys 2048 ...]
        [--configs 2x128x2 ...] [--tuned SECONDS] [--rounds 7] [--markdown] [--record FILE]

*grid* is the forward pass in bf16, full and causal, of head dimensions 64, 128 and 256 at lengths 2048
to 16384, with batch * length = 16384 and heads * dim = 2048. *grouped* has 64 query heads over 8, *short*
the length 512, *decode* one query against 8192 keys, *few* one query of few sequences, *speculative* 4
to 16 queries against 8192 keys. The method is that of `gemm.py`: contenders alternate in one process, in
a new order each round. Each result is compared with float64 on sampled queries, on normal data and on
data with outliers; ours may have errors of at most twice the largest of the peers'.

cuDNN is called through PyTorch, FlashAttention-3 is the package `fa3-fwd`, FlashAttention-4 the package
`flash-attn-4`; who is not installed, or refuses a problem, is left out and named in the record.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from statistics import geometric_mean

import row_runs
import torch
from attention_cases import SETS, Case, Errors, Operands, cases, errors
from attention_contenders import NAMES, calls
from chip import Chip
from gemm_rows import Row, make_row, over_best
from gemms import WrongResultError
from interleaved import MODES, measure
from torch_contenders import StreamContender

from mlir_smem.kernels.attention import Config

#: The largest ratio of mean errors of contenders that compute the same.
_SAME = 8

#: Seconds of a unit, and the operations a second from which its number of calls follows.
_UNIT_SECONDS, _UNIT_RATE = 0.5e-3, 600e12


def contenders(
    case: Case, operands: Operands, options: argparse.Namespace
) -> tuple[list[StreamContender], dict[str, dict[str, Errors]], dict[str, str]]:
    """Return contenders, their errors on normal data and outliers, and the reasons for omissions."""
    calls_in_unit = min(32, max(1, round(_UNIT_SECONDS * _UNIT_RATE / case.operations)))
    outlier_operands = case.operands(outliers=True)
    exact = {"normal": case.reference(operands), "outliers": case.reference(outlier_operands)}
    operands_by_data = {"normal": operands, "outliers": outlier_operands}
    timed: list[StreamContender] = []
    errors_by_name: dict[str, dict[str, Errors]] = {}
    left_out: dict[str, str] = {}
    for name, call in calls(case, options.contenders, options.configs, options.tuned):
        try:
            errors_by_name[name] = {
                data: errors(call(operands_by_data[data]), exact[data]) for data in operands_by_data
            }
            timed.append(
                StreamContender(name, lambda call=call: call(operands), None, calls_in_unit)
            )
        except Exception as error:  # each peer has its own exceptions for unsupported problems
            if name.startswith("ours"):
                raise
            left_out[name] = str(error).strip().splitlines()[0][:200]
    return timed, errors_by_name, left_out


def check(case: Case, errors_by_name: dict[str, dict[str, Errors]]) -> None:
    """Check the errors; WrongResultError if ours are too large, or a peer computes something else."""
    least = min(
        (errors_by_data["normal"].mean for errors_by_data in errors_by_name.values()), default=0.0
    )
    for name, errors_by_data in errors_by_name.items():
        if errors_by_data["normal"].mean > _SAME * least:
            raise WrongResultError(
                f"{name} of {case.kind} at {case.shape} has a mean error of "
                f"{errors_by_data['normal'].mean:.2g}, another contender {least:.2g}"
            )
    peers = [
        errors_by_data
        for name, errors_by_data in errors_by_name.items()
        if not name.startswith("ours")
    ]
    for name, errors_by_data in errors_by_name.items():
        for data, error in errors_by_data.items():
            allowed = 2 * max((peer[data].mean for peer in peers), default=2**-9)
            if not error.mean <= allowed:
                raise WrongResultError(
                    f"{name} of {case.kind} at {case.shape} has a mean error of {error.mean:.2g} on "
                    f"{data} data; {allowed:.2g} is allowed"
                )


def compare(case: Case, options: argparse.Namespace) -> Iterator[Row]:
    """A row for each mode; WrongResultError if a result is wrong."""
    torch.manual_seed(0)
    timed, errors_by_name, left_out = contenders(case, case.operands(), options)
    check(case, errors_by_name)
    means = {name: errors_by_data["normal"].mean for name, errors_by_data in errors_by_name.items()}
    for mode in options.modes:
        with Chip() as chip:
            times = measure(timed, MODES[mode], options.rounds)
        row = make_row(case.kind, case.shape, mode, case.operations, times, means, chip.summary())
        for name, errors_by_data in errors_by_name.items():
            row["contenders"][name]["errors"] = {
                data: {"mean": error.mean, "most": error.most}
                for data, error in errors_by_data.items()
            }
        yield row | {"left out": left_out}


def summary(rows: list[Row]) -> str:
    """Lines with our rate over that of the best peer, by kind and mode: mean, and lowest."""

    def key(row: Row) -> tuple[str, str]:
        return row["mode"], row["type"]

    lines = []
    for (mode, kind), group in groupby(sorted(rows, key=key), key):
        group_ratios = [ratio for ratio in map(over_best, group) if ratio is not None]
        if group_ratios:
            lines.append(
                f"{kind}, {mode}: {geometric_mean(group_ratios):.3f} of the best peer in the geometric "
                f"mean of {len(group_ratios)}, lowest {min(group_ratios):.3f}"
            )
    return "\n".join(lines)


def config(text: str) -> Config:
    """Parse consumers, keys and stages, for argparse."""
    try:
        return Config(*map(int, text.split("x")))
    except (TypeError, ValueError):
        raise argparse.ArgumentTypeError(
            f"{text!r} is no configuration, for example 2x128x2"
        ) from None


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", nargs="+", choices=SETS, default=["grid", "grouped", "short"])
    arguments.add_argument("--modes", nargs="+", choices=MODES, default=["sustained"])
    arguments.add_argument("--contenders", nargs="+", choices=NAMES, default=[*NAMES])
    arguments.add_argument("--dims", nargs="+", type=int, help="head dimensions; all if missing")
    arguments.add_argument("--keys", nargs="+", type=int, help="lengths; all if missing")
    arguments.add_argument(
        "--configs", nargs="+", type=config, default=[], help="further ones of ours"
    )
    arguments.add_argument(
        "--tuned", type=float, metavar="SECONDS", help="also what `tune` finds in this time"
    )
    row_runs.add_arguments(arguments)
    options = row_runs.parse(arguments)
    # "ours" is the default, also after a search.
    os.environ["MLIR_SMEM_TUNED"] = "off"
    selected = (
        case
        for name in options.only
        for case in cases(name)
        if case.dim in (options.dims or [case.dim]) and case.keys in (options.keys or [case.keys])
    )
    rows = row_runs.run((partial(compare, case, options) for case in selected), options)
    if rows is None:
        return 1
    print(summary(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
