"""Hardware counters of each contender of `benchmarks/attention.py`, for a few of its problems.

    python benchmarks/attention_counters.py [--only grid] [--dims 128] [--keys 4096]
        [--contenders ours cuDNN FA3 FA4] [--markdown] [--sass FOLDER] [--record FILE]

Under `ncu`, one launch of each: use of the tensor pipe and of the unit for exponentials, why warps stall,
bytes through L2 and DRAM. With --sass, FOLDER gets the machine code of each contender's kernel, with the
stalls of each instruction, for `benchmarks/main_loop.py`, in a second run.
"""

import argparse
import sys
from functools import partial

import torch
from attention_cases import SETS, Case, cases
from attention_contenders import NAMES, calls
from marked_launches import add_arguments, launch_marked, report


def run(options: argparse.Namespace) -> None:
    """Launch each contender once."""
    for case in select_cases(options):
        operands = case.operands()
        launches = []
        for name, call in calls(case, options.contenders, []):
            call(operands)  # work of the first call is not counted
            launches.append((name, partial(call, operands)))
        torch.cuda.synchronize()
        launch_marked(f"{case.kind} {'x'.join(map(str, case.shape))}", launches)


def select_cases(options: argparse.Namespace) -> list[Case]:
    """The problems of the options."""
    all_cases = [case for name in options.only for case in cases(name)]
    return [case for case in all_cases if case.dim in options.dims and case.keys in options.keys]


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", nargs="+", choices=SETS, default=["grid"])
    arguments.add_argument("--dims", nargs="+", type=int, default=[128])
    arguments.add_argument("--keys", nargs="+", type=int, default=[4096])
    arguments.add_argument("--contenders", nargs="+", choices=NAMES, default=[*NAMES])
    add_arguments(arguments)
    options = arguments.parse_args()
    if not select_cases(options):
        arguments.error("no problem of these sets has these dimensions and lengths")
    if options.run:
        run(options)
    else:
        report("attention", options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
