"""Hardware counters of a command's kernels, by Nsight Compute."""

import csv
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

# The clock is not changed: it belongs to the machine.
_NCU = ("ncu", "--clock-control", "none")


@dataclass
class Launch:
    """The metrics of one kernel in base units; missing metrics are absent."""

    kernel: str
    metrics: dict[str, float] = field(default_factory=dict)


def profile(command: Sequence[str], metrics: Iterable[str], *options: str) -> str:
    """Run a command under ncu; return the output of both, with the counters as CSV.

    Options go to ncu, for example `-k`, `regex:...` to choose kernels. RuntimeError with ncu's output
    if it fails.
    """
    form = ("--csv", "--print-units", "base", "--metrics", ",".join(metrics))
    return _run([*_NCU, *form, *options, *command])


def launches(text: str) -> list[Launch]:
    """The launches of ncu's CSV, which has a line for each metric of each."""
    launches_by_id: dict[str, Launch] = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        launch = launches_by_id.setdefault(row["ID"], Launch(row["Kernel Name"]))
        text_value = row["Metric Value"].replace(",", "")
        if re.fullmatch(r"[-+.\de]+", text_value):
            launch.metrics[row["Metric Name"]] = float(text_value)
    return list(launches_by_id.values())


def available_metrics(metrics: Iterable[str]) -> list[str]:
    """The metrics that ncu has on this GPU; RuntimeError if it has none of them."""
    names = set(re.findall(r"^(\w+)", _run(["ncu", "--query-metrics"]), re.MULTILINE))
    requested = list(metrics)
    available = [metric for metric in requested if metric.split(".")[0] in names]
    if not available:
        raise RuntimeError(f"of {len(names)} metrics that ncu has, none is {', '.join(requested)}")
    return available


def source_pages(
    command: Sequence[str], report: Path, *options: str
) -> tuple[str, list[tuple[str, str]]]:
    """Run a command under ncu; return its output, and the machine code of each launch as CSV.

    The report is kept at the given path.
    """
    section = ("--section", "SourceCounters", "-f", "-o", str(report))
    output = _run([*_NCU, *options, *section, *command])
    form = ("--page", "source", "--csv", "--print-source", "sass")
    return output, pages(_run(["ncu", "--import", f"{report}.ncu-rep", *form]))


def pages(text: str) -> list[tuple[str, str]]:
    """The kernels of ncu's source page, each with its part of the text."""
    parts = re.split(r'^(?="Kernel Name")', text, flags=re.MULTILINE)
    return [
        (next(csv.reader(part.splitlines()))[1], part)
        for part in parts
        if part.startswith('"Kernel')
    ]


def _run(command: list[str]) -> str:
    run = subprocess.run(command, check=False, capture_output=True, text=True)
    if run.returncode:
        message = (run.stdout + run.stderr).strip().splitlines()[-5:]
        raise RuntimeError(f"{command[0]} exited with {run.returncode}: {' '.join(message)}")
    return run.stdout
