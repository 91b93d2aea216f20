"""The section of docs/mutants.md on the mutants that the net under the prover notices."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from mutation.explained import explanation
from mutation.net import fails

_RECORD = Path(__file__).parents[1] / "benchmarks" / "results" / "mutants-net.json"

_INTRODUCTION = """## The checker, `smem-insert-sync` and `smem-allocate`

{evaluated} mutants of these passes, mostly of conditions
([record](../benchmarks/results/mutants-net.json) of {date}). `python -m fuzz.net` compares what the
passes say of the first 250 or 400 programs with [its record](../benchmarks/results/prover-net.json);
for `smem-allocate`, the emulator runs them. What that does not notice, the lit tests of passes and
`tests/passes/` try.
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
    print()
    print_reasons((row["mutant"], row["noticed"] or "") for row in rows if not fails(row))


def print_reasons(mutants: Iterable[tuple[str, str]]) -> None:
    """Print the mutants that are left, by their reason: the place of each, with the sides that notice it.

    Of mutants without a reason, the edits are printed; of others, the number of each place.
    """
    by_reason = defaultdict[str, dict[str, list[str]]](lambda: defaultdict(list))
    for mutant, sides in mutants:
        file, _, edit = mutant.partition(": ")
        reason = explanation(mutant)
        noticed = f" ({sides})" if sides and not reason.startswith("equivalent") else ""
        label = edit.partition(": ")[0] if reason else edit
        by_reason[reason or "no reason is known"][file].append(f"`{label}`{noticed}")
    for reason, by_file in sorted(by_reason.items()):
        places = [
            f"{file}: "
            + ", ".join(
                f"{count} in {label}" if count > 1 else label
                for label, count in Counter(labels).items()
            )
            for file, labels in by_file.items()
        ]
        print(f"- *{reason}*: {'; '.join(places)}")
    print()


def _folder(row: dict) -> str:
    parts = row["mutant"].partition(":")[0].split("/")
    return "/".join(parts[:-1]) + "/" if len(parts) > 2 else "/".join(parts)


def _print_line(name: str, rows: list[dict]) -> None:
    survivors = [row for row in rows if not fails(row)]
    equivalent = sum(explanation(row["mutant"]).startswith("equivalent") for row in survivors)
    numbers = len(rows), len(rows) - len(survivors), equivalent, len(survivors) - equivalent
    print(f"| {name} | {' | '.join(map(str, numbers))} |")
