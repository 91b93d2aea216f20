"""Rows of a record of contenders, and tables of them.

A row is one GEMM, or one attention, in one mode: its `type`, `shape` and `mode`, and for each contender
TFLOP/s and more. A contender belongs to a family, the first word of its name (`cuBLAS NT` is cuBLAS); the
fastest of a family counts. Ratios compare contenders of one row, because only they were interleaved.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from interleaved import Times
from record import circumstances
from tables import table

Row = dict[str, Any]

OURS = "ours"
FAMILIES = (OURS, "cuBLAS", "Triton", "Mosaic", "QuACK", "cuDNN", "FA3", "FA4")


def make_row(
    kind: str,
    shape: tuple[int, ...],
    mode: str,
    operations: int,
    times: Mapping[str, Times],
    errors: Mapping[str, float | str],
    chip: Mapping[str, Any],
) -> Row:
    """A row of measured contenders.

    Args:
        kind, shape, mode: of the GEMM and the measurement.
        operations: multiplications and additions.
        times: by the contenders' names.
        errors: the relative errors of the results, by the contenders' names.
        chip: clock, power and temperature during the measurement.
    """
    return {
        "type": kind,
        "shape": list(shape),
        "mode": mode,
        "rounds": max(len(contender_times.gpu) for contender_times in times.values()),
        "contenders": {
            name: {
                "tflops": round(operations / times[name].seconds / 1e12, 1),
                "us": round(times[name].seconds * 1e6, 2),
                "spread": round(times[name].spread, 4),
                "error": error,
            }
            for name, error in errors.items()
        },
        "chip": chip,
    }


def key(row: Row) -> tuple[Any, ...]:
    """The key of a row: a later row replaces an earlier one with the same key."""
    return row["type"], tuple(row["shape"]), row["mode"]


def merge_rows(old: list[Row], new: list[Row]) -> list[Row]:
    """Merge rows: new measurements replace old ones."""
    return list(({key(row): row for row in old} | {key(row): row for row in new}).values())


def earlier_rows(file: Path) -> list[Row]:
    """The rows of a record, none if there is no file; ValueError if another machine made it."""
    if not file.exists():
        return []
    old, current = json.loads(file.read_text()), circumstances()
    for key_ in ("device", "versions"):
        if old[key_] != current[key_]:
            raise ValueError(
                f"{file} is of {key_} {old[key_]}, not {current[key_]}: record to a new file"
            )
    return old["rows"]


def write(file: Path, rows: list[Row]) -> None:
    """Write a record, and keep the other rows of an earlier one."""
    current = circumstances()
    circumstances_of_rows = {"date": current["date"], "command": current["command"]}
    all_rows = merge_rows(earlier_rows(file), [row | circumstances_of_rows for row in rows])
    file.write_text(json.dumps(current | {"rows": all_rows}, indent=1) + "\n")


def fastest(row: Row) -> dict[str, tuple[str, float]]:
    """The fastest contender of each family: name and TFLOP/s."""
    best: dict[str, tuple[str, float]] = {}
    for name, measurement in row["contenders"].items():
        family, rate = name.split()[0], measurement["tflops"]
        if family not in best or rate > best[family][1]:
            best[family] = (name, rate)
    return best


def ratios(rows: list[Row]) -> dict[str, list[float]]:
    """For each other family, our rate over its rate in every row that has both."""
    ratios_by_family: dict[str, list[float]] = {}
    for row in rows:
        best = fastest(row)
        for family, (_, rate) in best.items():
            if family != OURS and OURS in best:
                ratios_by_family.setdefault(family, []).append(best[OURS][1] / rate)
    return ratios_by_family


def over_best(row: Row) -> float | None:
    """Our rate over that of the fastest other family; None without one."""
    rates = {family: rate for family, (_, rate) in fastest(row).items()}
    others = [rate for family, rate in rates.items() if family != OURS]
    return rates[OURS] / max(others) if OURS in rates and others else None


def render_rows(rows: list[Row], markdown: bool) -> str:
    """A table for each type and mode, with geometric means and the lowest ratio in the last lines."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["type"], row["mode"]), []).append(row)
    tables = []
    for (kind, mode), group in groups.items():
        best = [fastest(row) for row in group]
        families = [f for f in FAMILIES if any(f in fastest_of_row for fastest_of_row in best)]
        others = [f for f in families if f != OURS]
        heading = [f"{kind}, {mode}", *families, *(f"{OURS} / {f}" for f in others)]
        lines = [
            [
                " x ".join(map(str, row["shape"])),
                *(_rate(fastest_of_row.get(family)) for family in families),
                *(_ratio(ratios([row]).get(family)) for family in others),
            ]
            for row, fastest_of_row in zip(group, best, strict=True)
        ]
        ratios_by_family = ratios(group)
        blank = [""] * len(families)
        lines.append(
            [
                "geometric mean",
                *blank,
                *(_ratio(ratios_by_family.get(family), geometric_mean) for family in others),
            ]
        )
        lines.append(
            ["lowest", *blank, *(_ratio(ratios_by_family.get(family), min) for family in others)]
        )
        tables.append(table(heading, lines, markdown))
    return "\n\n".join(tables)


def _rate(contender: tuple[str, float] | None) -> str:
    """A rate, with the layout where the name says one."""
    if not contender:
        return "-"
    layout = contender[0].split()[1:2]
    return f"{contender[1]:.0f}" + (
        f" {layout[0]}" if layout and layout[0] in ("TN", "NN", "NT") else ""
    )


def _ratio(row_ratios: list[float] | None, reduce: Any = max) -> str:
    return f"{reduce(row_ratios):.3f}" if row_ratios else "-"
