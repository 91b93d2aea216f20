"""How data gets into a tile, and from it into registers."""

from __future__ import annotations

from enum import Enum

from ..layout.text_error import TextError


class Load(Enum):
    """What is done with an operand's tile besides multiplying it."""

    TMA = "tma"
    """Bulk tensor copies fill it."""
    VECTORS = "16-byte"
    """Threads fill it, 16 bytes at a time; the data passes through registers, and may be turned
    around there."""
    LDMATRIX = "ldmatrix"
    """A warpgroup loads it into registers, from which A is multiplied."""

    @classmethod
    def parse(cls, text: str) -> tuple[Load, ...]:
        """Reads one or several, joined by commas: `tma`, or `tma,ldmatrix`.

        Raises:
            TextError: for any other word.
        """
        found: list[Load] = []
        at = 0
        for word in text.split(","):
            if word not in (names := [load.value for load in cls]):
                problem = f"expected {', '.join(names[:-1])} or {names[-1]}"
                raise TextError("load", text, at, problem, "tma,ldmatrix")
            found.append(cls(word))
            at += len(word) + 1
        return tuple(dict.fromkeys(found))
