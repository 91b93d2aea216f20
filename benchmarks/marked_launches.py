"""Runs under Nsight Compute: one launch of each contender, each after a mark."""

import argparse
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import torch
from counter_rows import METRICS, contender_names, group_launches, render
from ncu import Launch, available_metrics, launches, profile, source_pages
from record import record

_ONLY_MARKED = ("--profile-from-start", "off")


def add_arguments(arguments: argparse.ArgumentParser) -> None:
    """Add the options of both sides of a run."""
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument(
        "--sass", type=Path, help="write each kernel's machine code to this folder"
    )
    arguments.add_argument("--record", help="write the result to this file")
    arguments.add_argument("--run", action="store_true", help="only launch each contender once")


def launch_marked(shape: str, contenders: Iterable[tuple[str, Callable[[], object]]]) -> None:
    """Launch each contender after a mark, and print its name.

    Args:
        shape: the problem's name.
        contenders: names, and functions that launch a contender once.
    """
    for name, once in contenders:
        torch.cuda.profiler.start()
        torch.cuda._sleep(1)
        once()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        print(f"contender\t{shape}\t{name}", flush=True)


def report(kind: str, options: argparse.Namespace) -> None:
    """Run this command once more under ncu, with `--run`; print and record the counters.

    Args:
        kind: the element types, for titles and the record.
        options: those of `add_arguments`.
    """
    command = [sys.executable, *sys.argv, "--run"]
    text = profile(
        command, available_metrics(metric for metric, _ in METRICS.values()), *_ONLY_MARKED
    )
    counts = group_launches([(launch.kernel, launch) for launch in launches(text)])
    shapes: dict[str, dict[str, list[Launch]]] = {}
    for (shape, name), launches_of_contender in zip(contender_names(text), counts, strict=True):
        shapes.setdefault(shape, {})[name] = launches_of_contender
    for shape, launches_of_contender in shapes.items():
        print(f"{kind}, {shape}\n{render(launches_of_contender, options.markdown)}\n")
    if options.record:
        rows = [
            {
                "type": kind,
                "shape": shape,
                "contender": name,
                "launches": list(map(vars, contender_launches)),
            }
            for shape, launches_of_contender in shapes.items()
            for name, contender_launches in launches_of_contender.items()
        ]
        record(options.record, {"rows": rows})
    if options.sass:
        options.sass.mkdir(parents=True, exist_ok=True)
        output, pages = source_pages(command, options.sass / "report", *_ONLY_MARKED)
        for (shape, name), code in zip(contender_names(output), group_launches(pages), strict=True):
            file = re.sub(r"\W+", "-", f"{name} {shape}") + ".csv"
            (options.sass / file).write_text("".join(code))
            print(f"wrote {options.sass / file}")
