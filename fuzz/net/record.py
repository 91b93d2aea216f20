"""The record of the net: a file with a row for each program, and what has changed since."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from benchmarks.record import circumstances

from .verdicts import VERDICTS, Row

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
LOST_INSERTION = "inserted, proven"


def insertion_change(before: Row, after: Row) -> str:
    """Return how `smem-insert-sync` treats a program differently; "" if it does not."""
    if before.digest != after.digest or before.inserted == after.inserted:
        return ""
    return f"{_name(before.inserted)} -> {_name(after.inserted)}"


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
    table = sorted({outcome for row in rows.values() for outcome in row.runs})
    codes = {outcome: f"{i:x}" for i, outcome in enumerate(table)}
    texts = {}
    for index, row in sorted(rows.items()):
        runs = [codes[outcome] for outcome in row.runs]
        # One code if all schedules agree.
        shown = runs[0] if len(set(runs)) == 1 else ",".join(runs)
        times = f"*{len(runs)}" if len(set(runs)) == 1 else ""
        texts[index] = (
            f"{row.digest} {row.verdict} {row.inserted}{row.count} {shown}{times}".rstrip()
        )
    head = circumstances() | {
        "seed": seed,
        "seconds": round(seconds),
        "programs": len(rows),
        "row": "digest, verdict, smem-insert-sync's verdict and how many ops, outcomes of schedules",
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


def _row(text: str, table: list[str]) -> Row:
    digest, verdict, inserted, *rest = text.split(" ")
    runs: tuple[str, ...] = ()
    if rest:
        codes, _, times = rest[0].partition("*")
        runs = tuple(table[int(code, 16)] for code in codes.split(",")) * int(times or 1)
    return Row(digest, verdict, inserted[0], int(inserted[1:]), runs)
