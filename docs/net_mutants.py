"""The section of docs/mutants.md on the mutants that the net under the prover notices."""

import json
from collections import Counter
from pathlib import Path

from mutation.explained import explanation
from mutation.net import fails

_RECORD = Path(__file__).parents[1] / "benchmarks" / "results" / "mutants-net.json"

_INTRODUCTION = """## The checker, `smem-insert-sync` and `smem-allocate`

[This record](../benchmarks/results/mutants-net.json) is of {evaluated} mutants, drawn from all files of
these passes, mostly of conditions. A fourth side evaluates them: the net of `python -m fuzz.net`, which
compares what the passes say of the first 250 or 400 programs with
[its record](../benchmarks/results/prover-net.json). For mutants of `smem-allocate`, the emulator runs
each program too. What the net does not notice, the lit tests of passes and `tests/passes/` try; several
runs made the record, the last ones of what was left, by tests that were added. The last run was

    {command}

of {date}.
"""


def print_section() -> None:
    """Print the table and the survivors; nothing without a record."""
    if not _RECORD.exists():
        return
    record = json.loads(_RECORD.read_text())
    rows = record["mutants"]
    print(_INTRODUCTION.format(**record))
    print("| files | mutants | noticed | equivalent | survive |")
    print("|---|---:|---:|---:|---:|")
    folders = Counter(_folder(row) for row in rows)
    for folder in folders:
        _print_line(f"`{folder}`", [row for row in rows if _folder(row) == folder])
    _print_line("**all**", rows)
    survivors = [row for row in rows if not fails(row)]
    if survivors:
        print("\nNot noticed:\n")
    for row in survivors:
        reason = explanation(row["mutant"])
        name = row["mutant"].replace("|", "\\|")
        tests = f"; {row['noticed']}" if row["noticed"] else ""
        print(f"- `{name}`{tests}{': ' + reason if reason else ''}")


def _folder(row: dict) -> str:
    parts = row["mutant"].partition(":")[0].split("/")
    return "/".join(parts[:-1]) + "/" if len(parts) > 2 else "/".join(parts)


def _print_line(name: str, rows: list[dict]) -> None:
    survivors = [row for row in rows if not fails(row)]
    equivalent = sum(explanation(row["mutant"]).startswith("equivalent") for row in survivors)
    numbers = len(rows), len(rows) - len(survivors), equivalent, len(survivors) - equivalent
    print(f"| {name} | {' | '.join(map(str, numbers))} |")
