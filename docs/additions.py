"""Prints what the commits that added the latest ops and passes touched, for docs/adding.md.

    python docs/additions.py [--count 6]

The first commit of an addition adds its name to the code; those within a day that change how often the
name occurs belong to it. It needs the whole history (`git log`).
"""

from __future__ import annotations

import argparse
import subprocess
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import mlir_smem.dialect.ops  # noqa: F401 - the ops exist once they are imported
from mlir_smem.dialect.op import SmemOp, operation_names
from mlir_smem.passes.driver.base import passes

_ROOT = Path(__file__).parents[1]
_KINDS = {
    "tests": "tests",
    "lit_tests": "tests",
    "fuzz": "tests",
    "docs": "pages",
    "benchmarks": "records",
}


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(_ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commits_of(name: str) -> list[tuple[str, datetime]]:
    """Return the commits that add a name, oldest first, with their times."""
    folders = ("dialect", "passes")
    text = _git("log", "--reverse", "--format=%h %cI", f"-S{name}", "--", *folders)
    lines = [line.split() for line in text.splitlines()]
    if not lines:
        return []
    first = datetime.fromisoformat(lines[0][1])
    whole = _git("log", "--reverse", "--format=%h %cI", f"-S{name}").splitlines()
    times = [(line.split()[0], datetime.fromisoformat(line.split()[1])) for line in whole]
    return [(commit, time) for commit, time in times if first <= time < first + timedelta(days=1)]


def files_of(commits: list[str]) -> tuple[Counter[str], int]:
    """Return the number of files that commits touch, by kind, and of lines that they add."""
    files: dict[str, int] = {}
    for commit in commits:
        for line in _git("show", "--numstat", "--format=", commit).splitlines():
            added, _, file = line.split("\t")
            files[file] = files.get(file, 0) + (int(added) if added.isdigit() else 0)
    kinds = Counter(
        _KINDS.get(Path(file).parts[0], "source")
        for file in files
        if file.endswith((".py", ".mlir", ".md"))
    )
    return kinds, sum(
        added for file, added in files.items() if file.endswith((".py", ".mlir", ".md"))
    )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=6, help="how many ops, and how many passes")
    options = parser.parse_args()
    print("| addition | date | commits | source | tests | pages | lines |")
    print("|---|---|---|---|---|---|---|")
    for names in (operation_names(SmemOp), tuple(passes())):
        additions = [
            (commits[0][1], name, commits) for name in names if (commits := commits_of(name))
        ]
        for time, name, commits in sorted(additions)[-options.count :]:
            kinds, lines = files_of([commit for commit, _ in commits])
            counts = " | ".join(str(kinds[kind]) for kind in ("source", "tests", "pages"))
            print(f"| `{name}` | {time:%Y-%m-%d} | {len(commits)} | {counts} | {lines:,} |")


if __name__ == "__main__":
    main()
