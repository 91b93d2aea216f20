"""Why a kernel computes garbage, as people read it."""

from __future__ import annotations

import numpy as np

from ...answer import text
from ...diagnosed import Diagnosed
from ..formats import descriptor_hex
from ..tables import columns

HEADS = ("element", "written at", "read at", "there lies")

#: Elements that are written out.
_SHOWN = 8


@text.register
def _(diagnosed: Diagnosed) -> str:
    lines = notes(diagnosed)
    if diagnosed.wrong.any():
        lines += ["", columns(HEADS, rows(diagnosed))]
    return "\n".join(lines)


def summary(diagnosed: Diagnosed) -> str:
    """How many elements are wrong, and what is read instead."""
    count, total = int(diagnosed.wrong.sum()), diagnosed.wrong.size
    if not count:
        return f"all {total} elements are read where they were written"
    displaced = diagnosed.displaced
    return (
        f"{count} of {total} elements are read from where they were not written: "
        f"{displaced} times another element lies there, {count - displaced} times nothing"
    )


def notes(diagnosed: Diagnosed) -> list[str]:
    """The summary, the causes, and what would be right."""
    said = [summary(diagnosed), *diagnosed.causes]
    right = diagnosed.right
    if right is None or not (diagnosed.wrong.any() or diagnosed.causes):
        return said
    steps = ", ".join(map(str, right.operand.k_steps if right.operand else (0,)))
    bits = descriptor_hex(right.bits)
    return [*said, f"right would be {bits}, k steps {steps} (16-byte units)"]


def rows(diagnosed: Diagnosed) -> list[tuple[str, ...]]:
    """The first wrong elements, one of each 16 bytes: where it was written, where it is read, and what
    lies there."""
    found: list[tuple[str, ...]] = []
    read = diagnosed.read
    written = diagnosed.written[: read.shape[0], : read.shape[1]]
    firsts = diagnosed.wrong & (written % diagnosed.element.unit == 0)
    for r, k in np.argwhere(firsts)[:_SHOWN].tolist():
        other = diagnosed.lies[r, k].tolist()
        there = f"({other[0]},{other[1]})" if other[0] >= 0 else "nothing"
        bits = diagnosed.element.bits
        places = (f"{int(place[r, k]) * bits // 8:#x}" for place in (written, read))
        found.append((f"({r},{k})", *places, there))
    return found
