"""Chooses the shared memory layouts of A and B for wgmma or tcgen05: layouts, descriptors, TMA boxes,
bank conflicts, instructions."""

import argparse
import shlex

from ..arguments import add_arch, arch_of
from ..printing import print_json

SUMMARY = "which layout and descriptor an operand gets, and why"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the operands, their loads and the MMA."""
    loads = "tma, 16-byte (stores of all threads) or ldmatrix (A only); several joined by commas"
    parser.add_argument("--a", metavar="MxKxTYPE", help="A's tile, for example 128x64xbf16")
    parser.add_argument("--b", metavar="KxNxTYPE", help="B's tile, for example 64x256xbf16")
    parser.add_argument("--load", metavar="HOW", default="tma", help=f"{loads} (default: tma)")
    parser.add_argument("--load-a", metavar="HOW", help="for A, if it differs")
    parser.add_argument("--load-b", metavar="HOW", help="for B, if it differs")
    parser.add_argument(
        "--a-major", choices=("k", "m"), help="major-ness of A in global memory (default: k)"
    )
    parser.add_argument(
        "--b-major",
        choices=("k", "n"),
        help="major-ness of B in global memory (default: n for types that are read N-major, else k)",
    )
    parser.add_argument(
        "--max-swizzle",
        type=int,
        default=128,
        metavar="BYTES",
        help="the widest swizzle: 0, 32, 64 or 128 (default: 128)",
    )
    parser.add_argument(
        "--threads", type=int, default=128, help="threads that fill tiles (default: 128)"
    )
    parser.add_argument("--stages", type=int, help="pipeline stages of each tile")
    add_arch(parser)
    parser.add_argument(
        "--ctas",
        type=int,
        default=1,
        help="tcgen05: CTAs of cta_group::N, each with tiles like these: 1 or 2 (default: 1)",
    )
    parser.add_argument(
        "--scaled",
        nargs="?",
        const="ue8m0",
        metavar="TYPE",
        help="tcgen05: block scaling by ue8m0 (default) or ue4m3",
    )
    parser.add_argument(
        "--k-bytes",
        type=int,
        default=32,
        metavar="BYTES",
        help="K of one instruction in bytes: 32, or 48 of e2m1 on sm_103 (default: 32)",
    )
    parser.add_argument(
        "--block",
        type=int,
        metavar="ELEMENTS",
        help="with --scaled: elements along K per scale factor (default: 16 of ue4m3, 32 of ue8m0)",
    )
    parser.add_argument("--emit", choices=("cuda",), help="print CUDA C++ instead")


def run(options: argparse.Namespace) -> int:
    """Print the choice."""
    from ....advisor import choose_operands

    chosen = choose_operands(
        options.a,
        options.b,
        load_a=options.load_a or options.load,
        load_b=options.load_b or options.load,
        a_major=options.a_major,
        b_major=options.b_major,
        max_swizzle=options.max_swizzle,
        threads=options.threads,
        stages=options.stages,
        arch=arch_of(options),
        ctas=options.ctas,
        scale=options.scaled,
        k_bytes=options.k_bytes,
        block=options.block,
    )
    if options.emit:
        from ....advisor import cuda_source

        source = cuda_source(chosen, _command(options))
        if options.json:
            return print_json({**chosen.data(), "cuda": source})
        print(source, end="")
    elif options.json:
        return print_json(chosen.data())
    else:
        print(chosen)
    return 0


def _command(options: argparse.Namespace) -> str:
    """Return the command line, without default values."""
    defaults = {"load": "tma", "max_swizzle": 128, "threads": 128}
    defaults |= {"ctas": 1, "k_bytes": 32}
    words = ["smem-layout", "choose"]
    names = ("a", "b", "load", "load_a", "load_b", "a_major", "b_major", "max_swizzle", "threads")
    for name in (*names, "stages", "arch", "ctas", "scaled", "k_bytes", "block", "emit"):
        value = getattr(options, name)
        if value is not None and value != defaults.get(name):
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)
