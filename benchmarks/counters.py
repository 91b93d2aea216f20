"""Hardware counters of each contender of `benchmarks/gemm.py`, for one GEMM.

    python benchmarks/counters.py [--only bf16] [--shapes 4096x4096x4096 ...] [--contenders ...]
        [--budget 15] [--markdown] [--sass FOLDER] [--record FILE]

Under `ncu`, one launch of each: use of the tensor pipe, why warps stall, bytes through L2 and DRAM,
passes over the banks of shared memory. With --sass, FOLDER gets the machine code of each contender's
kernel for `benchmarks/main_loop.py`, in a second run.
"""

import argparse
import sys

from gemm import CONTENDERS, contenders, shape_of
from gemms import TYPES, Gemm
from marked_launches import add_arguments, launch_marked, report


def run(options: argparse.Namespace) -> None:
    """Launch one GEMM of each contender."""
    import torch

    for shape in options.shapes:
        timed, _ = contenders(
            Gemm(TYPES[options.only], shape), options.contenders, 1, options.budget
        )
        torch.cuda.synchronize()
        launch_marked(
            "x".join(map(str, shape)), [(contender.name, contender.once) for contender in timed]
        )


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", choices=TYPES, default="bf16")
    arguments.add_argument("--shapes", nargs="+", type=shape_of, default=[(4096, 4096, 4096)])
    arguments.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    arguments.add_argument("--budget", type=float, default=15, help="seconds to look for the best")
    add_arguments(arguments)
    options = arguments.parse_args()
    if options.run:
        run(options)
    else:
        report(options.only, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
