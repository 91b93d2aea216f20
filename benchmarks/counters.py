"""Hardware counters of each contender of `benchmarks/gemm.py`, for one GEMM.

    python benchmarks/counters.py [--only bf16] [--shapes 4096x4096x4096 ...] [--contenders ...]
        [--budget 15] [--markdown] [--sass FOLDER] [--record FILE]

Under `ncu`, one launch of each: use of the tensor pipe, why warps stall, bytes through L2 and DRAM,
passes over the banks of shared memory. With --sass, FOLDER gets the machine code of each contender's
kernel for `benchmarks/main_loop.py`, in a second run.
"""

import argparse
import re
import sys
from pathlib import Path

from counter_rows import METRICS, grouped, named, rendered
from gemm import CONTENDERS, contenders, shape_of
from gemms import TYPES, Gemm
from ncu import Launch, known, launches, profile, source_pages
from record import record


def run(options: argparse.Namespace) -> None:
    """Launch one GEMM of each contender, each after a mark, and print its name."""
    import torch

    for shape in options.shapes:
        found, _ = contenders(
            Gemm(TYPES[options.only], shape), options.contenders, 1, options.budget
        )
        torch.cuda.synchronize()
        for each in found:
            torch.cuda.profiler.start()
            torch.cuda._sleep(1)
            each.once()
            torch.cuda.synchronize()
            torch.cuda.profiler.stop()
            print(f"contender\t{'x'.join(map(str, shape))}\t{each.name}", flush=True)


def main() -> int:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--only", choices=TYPES, default="bf16")
    arguments.add_argument("--shapes", nargs="+", type=shape_of, default=[(4096, 4096, 4096)])
    arguments.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=CONTENDERS)
    arguments.add_argument("--budget", type=float, default=15, help="seconds to look for the best")
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument(
        "--sass", type=Path, help="write each kernel's machine code to this folder"
    )
    arguments.add_argument("--record", help="write the result to this file")
    arguments.add_argument("--run", action="store_true", help="only launch each contender once")
    options = arguments.parse_args()
    if options.run:
        run(options)
        return 0

    command = [sys.executable, *sys.argv, "--run"]
    only_marked = ("--profile-from-start", "off")
    text = profile(command, known(metric for metric, _ in METRICS.values()), *only_marked)
    counts = grouped([(launch.kernel, launch) for launch in launches(text)])
    shapes: dict[str, dict[str, list[Launch]]] = {}
    for (shape, name), found in zip(named(text), counts, strict=True):
        shapes.setdefault(shape, {})[name] = found
    for shape, found in shapes.items():
        print(f"{options.only}, {shape}\n{rendered(found, options.markdown)}\n")
    if options.record:
        rows = [
            {
                "type": options.only,
                "shape": shape,
                "contender": name,
                "launches": list(map(vars, each)),
            }
            for shape, found in shapes.items()
            for name, each in found.items()
        ]
        record(options.record, {"rows": rows})
    if options.sass:
        options.sass.mkdir(parents=True, exist_ok=True)
        output, pages = source_pages(command, options.sass / "report", *only_marked)
        for (shape, name), code in zip(named(output), grouped(pages), strict=True):
            file = re.sub(r"\W+", "-", f"{name} {shape}") + ".csv"
            (options.sass / file).write_text("".join(code))
            print(f"wrote {options.sass / file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
