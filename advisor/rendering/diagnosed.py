"""The comparison of a written layout with a descriptor, as text, JSON data and HTML."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..answer import data, html, text
from ..diagnosed import Diagnosed
from .formats import descriptor_hex
from .tables import html_list, html_table, text_table

HEADS = ("element", "written at", "read at", "element read")

#: Number of elements that are printed.
_SHOWN = 8


@text.register
def _(diagnosed: Diagnosed) -> str:
    lines = notes(diagnosed)
    if diagnosed.wrong.any():
        lines += ["", text_table(HEADS, rows(diagnosed))]
    return "\n".join(lines)


def summary(diagnosed: Diagnosed) -> str:
    """Return the number of wrong elements, and the number of other elements read instead."""
    count, total = int(diagnosed.wrong.sum()), diagnosed.wrong.size
    if not count and diagnosed.sharing:
        return (
            f"{diagnosed.sharing} elements of the tile are written to the place of another one, which "
            "is lost or overwrites them"
        )
    if not count:
        return f"all {total} elements are read where they were written"
    displaced = diagnosed.displaced
    return (
        f"{count} of {total} elements are read from a wrong address: {displaced} from that of another "
        f"element, {count - displaced} from unwritten memory"
    )


def notes(diagnosed: Diagnosed) -> list[str]:
    """Return the summary, the causes, and the expected descriptor."""
    sentences = [summary(diagnosed), *diagnosed.causes]
    expected = diagnosed.expected
    if expected is None or (diagnosed.correct and not diagnosed.causes):
        return sentences
    steps = ", ".join(map(str, expected.operand.k_steps if expected.operand else (0,)))
    bits = descriptor_hex(expected.bits)
    return [*sentences, f"expected descriptor {bits}, k steps {steps} (16-byte units)"]


def rows(diagnosed: Diagnosed) -> list[tuple[str, ...]]:
    """Return the first wrong elements, one per 16 bytes; the columns are `HEADS`."""
    cells: list[tuple[str, ...]] = []
    read = diagnosed.read
    written = diagnosed.written[: read.shape[0], : read.shape[1]]
    firsts = diagnosed.wrong & (written % diagnosed.element.unit == 0)
    for r, k in np.argwhere(firsts)[:_SHOWN].tolist():
        actual_r, actual_k = diagnosed.actual[r, k].tolist()
        actual = f"({actual_r},{actual_k})" if actual_r >= 0 else "unwritten"
        bits = diagnosed.element.bits
        places = (f"{int(place[r, k]) * bits // 8:#x}" for place in (written, read))
        cells.append((f"({r},{k})", *places, actual))
    return cells


@data.register
def _(diagnosed: Diagnosed) -> dict[str, Any]:
    """Arrays are indexed [m/n][k], places in elements."""
    wrong, read = diagnosed.wrong, diagnosed.read
    return {
        "correct": diagnosed.correct,
        "summary": summary(diagnosed),
        "wrong": int(wrong.sum()),
        "total": wrong.size,
        "sharing": diagnosed.sharing,
        "causes": list(diagnosed.causes),
        "read": read.tolist(),
        "written": diagnosed.written[: read.shape[0], : read.shape[1]].tolist(),
        "actual": [
            [pair if pair[0] >= 0 else None for pair in row] for row in diagnosed.actual.tolist()
        ],
        "expected": diagnosed.expected and data(diagnosed.expected),
    }


@html.register
def _(diagnosed: Diagnosed) -> str:
    table = html_table(HEADS, rows(diagnosed)) if diagnosed.wrong.any() else ""
    return html_list(notes(diagnosed)) + table
