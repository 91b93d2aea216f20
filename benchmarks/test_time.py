"""Time of the tests in a fresh clone: `make test`, `make test-all`, and `.ci/run`.

    python benchmarks/test_time.py [--before GROUPS] [--record FILE]

The repository's last commit is cloned into a temporary folder and installed there. Each command then
runs alone, for its seconds of wall time and of CPU; `make test-all` also gives the CPU seconds of each
group of cases (the files of a folder of tests). `--before` is a record or a file of CPU seconds by case
(`pytest --seconds=FILE`) of an earlier revision, whose groups stand beside. A record that exists keeps
what is not measured again.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from record import circumstances, record

ROOT = Path(__file__).parents[1]

_COMMANDS = {
    "make test": ["make", "test"],
    "make test-all": ["make", "test-all", "OPTIONS=--seconds=build/seconds.json"],
    "make smoke": ["make", "smoke"],
    ".ci/run": [".ci/run"],
}


def timed(command: list[str], folder: str) -> dict[str, object]:
    """Run a command in a folder; return its seconds, and how many cases passed and were skipped.

    Raises:
        SystemExit: if it fails, with the end of its output.
    """
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode:
        raise SystemExit(f"{' '.join(command)} fails:\n{run.stdout[-4000:]}{run.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    counts = {
        outcome: int(match[1])
        for outcome in ("passed", "skipped")
        if (match := re.search(rf"(\d+) {outcome}", run.stdout))
    }
    return {"wall_s": round(seconds), "cpu_s": round(cpu)} | counts


def groups(seconds: dict[str, float]) -> dict[str, dict[str, float]]:
    """Return the number and the CPU seconds of the cases of each folder of tests, largest first."""
    by_folder: dict[str, list[float]] = defaultdict(list)
    for case, cpu in seconds.items():
        folder, _, _ = case.partition("::")[0].rpartition("/")
        parts = folder.split("/")
        by_folder["/".join(parts[:2]) if len(parts) > 1 else case.partition("::")[0]].append(cpu)
    ordered = sorted(by_folder.items(), key=lambda item: -sum(item[1]))
    return {
        folder: {"cases": len(cases), "cpu_s": round(sum(cases), 1)} for folder, cases in ordered
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--before", metavar="FILE", help="CPU seconds by case of an earlier revision"
    )
    parser.add_argument("--only", choices=_COMMANDS, action="append", help="one of the commands")
    parser.add_argument("--record")
    options = parser.parse_args()
    result: dict[str, object] = {"cores": os.cpu_count()}
    with TemporaryDirectory() as folder:
        subprocess.run(["git", "clone", "--quiet", str(ROOT), folder], check=True)
        result["install"] = timed(["make", ".venv/installed-dev", ".venv/installed-docs"], folder)
        for name in options.only or _COMMANDS:
            result[name] = timed(_COMMANDS[name], folder)
            print(name, result[name], flush=True)
        file = Path(folder, "build", "seconds.json")
        if file.exists():
            result["groups"] = groups(json.loads(file.read_text()))
    if options.before:
        result["groups_before"] = groups(json.loads(Path(options.before).read_text()))
    if options.record:
        written = Path(options.record)
        earlier = json.loads(written.read_text()) if written.exists() else {}
        measured = {name: value for name, value in earlier.items() if name not in circumstances()}
        record(options.record, measured | result)


if __name__ == "__main__":
    main()
