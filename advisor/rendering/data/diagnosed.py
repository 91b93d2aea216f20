"""The comparison of a written layout with a descriptor, for JSON."""

from __future__ import annotations

from typing import Any

from ...answer import data
from ...diagnosed import Diagnosed
from ..text.diagnosed import summary


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
