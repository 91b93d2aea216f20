"""Time of the tests in a fresh clone: `make test`, `make test-all`, and `.ci/run`.

    python benchmarks/test_time.py [--before GROUPS] [--record FILE]

The repository's last commit is cloned into a temporary folder. Each command then runs there alone, for
its seconds of wall time and of CPU: first `.ci/run`, whose time is with the installation, and of which
`make test-all` is a part. That gives the CPU seconds of each group of cases (the files of a folder of
tests), too. `calibration_s` are those of a fixed piece of work after a command
(`tests/support/tiers.py`): a machine is not always as fast; `tests/tiers/slow.json` has its own.
`--before` is a file of CPU seconds by case (`pytest --seconds=FILE`) of an earlier revision, whose groups
stand beside. A record that exists keeps what is not measured again.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

from record import circumstances, record

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "tests" / "support"))

import tiers  # noqa: E402

_CI = ".ci/run"
_COMMANDS = {_CI: [_CI], "make test": ["make", "test"], "make smoke": ["make", "smoke"]}

#: The summary of pytest.
_SUMMARY = re.compile(r"(\d+) passed(?:, (\d+) skipped)?.* in ([\d.]+)s")


def time_command(
    command: list[str], folder: str, **variables: str
) -> tuple[dict[str, float], dict[str, float]]:
    """Run a command in a folder, with variables of the environment; return its seconds, and those and the
    counts of its first tests.

    Raises:
        SystemExit: if it fails or runs no tests, with the end of its output.
    """
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | variables
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    summary = _SUMMARY.search(run.stdout)
    if run.returncode or not summary:
        raise SystemExit(f"{' '.join(command)} fails:\n{run.stdout[-4000:]}{run.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    passed, skipped, tests_seconds = summary.groups(default="0")
    return {
        "wall_s": round(seconds),
        "cpu_s": round(cpu),
        "calibration_s": round(tiers.calibration(), 3),
    }, {
        "wall_s": round(float(tests_seconds)),
        "passed": int(passed),
        "skipped": int(skipped),
    }


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
        file = Path(folder, "build", "seconds.json")
        for name, command in _COMMANDS.items():
            if name not in (options.only or _COMMANDS):
                continue
            if name != _CI:
                install = ["make", ".venv/installed-dev"]
                subprocess.run(install, cwd=folder, capture_output=True, check=True)
            # Of the tests of `.ci/run`, only `make test-all` takes the options.
            variables = {"OPTIONS": f"--seconds={file}"} if name == _CI else {}
            whole, tests = time_command(command, folder, **variables)
            times = {name: whole, "make test-all": tests} if name == _CI else {name: tests | whole}
            print(times, flush=True)
            result |= times
        if file.exists():
            result["groups"] = groups(json.loads(file.read_text()))
    if options.before:
        result["groups_before"] = groups(json.loads(Path(options.before).read_text()))
    if options.record:
        record_file = Path(options.record)
        earlier = json.loads(record_file.read_text()) if record_file.exists() else {}
        measured = {name: value for name, value in earlier.items() if name not in circumstances()}
        record(options.record, measured | result)


if __name__ == "__main__":
    main()
