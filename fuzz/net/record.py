"""The record of the net: a file with a row for each program, and what has changed since."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.record import circumstances

from .verdicts import RIGHT, VERDICTS, Row

#: What may become of a program since the record, and whether it fails a comparison.
CHANGES = {
    "same": False,
    "newly proven, and the emulator found it right": False,
    "UNSOUND: newly proven, and the emulator found it wrong": True,
    "newly proven, and the emulator has not run it": False,
    "no longer proven although right": True,
    "no longer proven, and the emulator found it wrong": False,
    "newly wrong although right": True,
    "other verdict": False,
    "crashes or hangs": True,
    "drifted: the generators draw another program": True,
}

SAME, RIGHTLY, UNSOUND, UNTESTED, LOST, LOST_RIGHTLY, WRONGLY, OTHER, DIES, DRIFTED = CHANGES


def change(before: Row, after: Row) -> str:
    """Return what has become of a program, one of `CHANGES`.

    Args:
        before: the row of the record, with the emulator's outcomes.
        after: what is known now; its outcomes count if it has any.
    """
    if before.digest != after.digest and after.digest:
        return DRIFTED
    runs = after if after.runs else before
    if before.verdict == after.verdict:
        newly_wrong = bool(after.runs) and before.is_right and not after.is_right
        return UNSOUND if after.verdict == "p" and newly_wrong else SAME
    if after.verdict in "ch":
        return DIES
    if after.verdict == "p":
        if not runs.runs or set(runs.runs) == {"refused"}:
            return UNTESTED
        return RIGHTLY if runs.is_right else UNSOUND
    if after.verdict == "w" and runs.is_right:
        return WRONGLY
    if before.verdict == "p":
        return LOST if runs.is_right or not runs.runs else LOST_RIGHTLY
    return OTHER


#: How changes begin that fail a comparison; see `insertion_change`.
_LOST_INSERTIONS = ("inserted, proven", "UNSOUND")


def insertion_change(before: Row, after: Row) -> str:
    """Return how `smem-insert-sync` treats a program differently; "" if it does not."""
    if before.digest != after.digest:
        return ""
    if after.inserted == "p" and after.inserted_runs:
        wrong = {*after.inserted_runs} - {*before.inserted_runs, RIGHT}
        if wrong and (before.inserted != "p" or {*before.inserted_runs} <= {RIGHT}):
            return f"UNSOUND: inserted, proven, and the emulator found it wrong ({min(wrong)})"
    if before.inserted != after.inserted:
        return f"{_name(before.inserted)} -> {_name(after.inserted)}"
    return "other ops inserted" if before.count != after.count else ""


def insertion_fails(change: str) -> bool:
    """Return whether a change of what `smem-insert-sync` does fails a comparison."""
    return change.startswith(_LOST_INSERTIONS)


def _name(code: str) -> str:
    return "inserted, " + VERDICTS[code] if code in "puw" else VERDICTS.get(code, "not evaluated")


def write(file: Path, rows: Mapping[int, Row], seed: int, seconds: float) -> None:
    """Write the rows of programs, by index, with the circumstances of the last run.

    Args:
        file: the record.
        rows: the rows.
        seed: the seed of the programs.
        seconds: wall seconds of the last run.
    """
    table = sorted({outcome for row in rows.values() for outcome in row.runs + row.inserted_runs})
    texts = {}
    for index, row in sorted(rows.items()):
        runs, inserted_runs = _codes(row.runs, table), _codes(row.inserted_runs, table)
        texts[index] = (
            f"{row.digest} {row.verdict} {row.inserted}{row.count} {runs} {inserted_runs}"
        )
    head = circumstances() | {
        "seed": seed,
        "seconds": round(seconds),
        "programs": len(rows),
        "row": "digest, verdict, smem-insert-sync's verdict and how many ops, outcomes of schedules, "
        "outcomes of what smem-insert-sync made",
        "verdicts": VERDICTS,
        "outcomes": table,
    }
    lines = ",\n".join(f'"{index}": {json.dumps(text)}' for index, text in texts.items())
    body = json.dumps(head, indent=1).removesuffix("\n}")
    file.write_text(f'{body},\n "rows": {{\n{lines}\n}}}}\n')


def read(file: Path) -> tuple[dict[int, Row], int]:
    """Return the rows of a record, by index, and the seed."""
    record = json.loads(file.read_text())
    table = record["outcomes"]
    rows = {int(index): _row(text, table) for index, text in record["rows"].items()}
    return rows, record["seed"]


def _codes(runs: Sequence[str], table: Sequence[str]) -> str:
    """Return the places of outcomes in a table, in hexadecimal digits: once if all are the same."""
    codes = [f"{table.index(outcome):x}" for outcome in runs]
    if not codes:
        return "-"
    return f"{codes[0]}*{len(codes)}" if len(set(codes)) == 1 else ",".join(codes)


def _outcomes(text: str, table: Sequence[str]) -> tuple[str, ...]:
    codes, _, times = text.partition("*")
    outcomes = tuple(table[int(code, 16)] for code in codes.split(",")) if text != "-" else ()
    return outcomes * int(times or 1)


def _row(text: str, table: Sequence[str]) -> Row:
    digest, verdict, inserted, runs, inserted_runs = text.split(" ")
    return Row(
        digest,
        verdict,
        inserted[0],
        int(inserted[1:]),
        _outcomes(runs, table),
        _outcomes(inserted_runs, table),
    )
