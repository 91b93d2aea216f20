"""How a tile is filled, and loaded into registers."""

from __future__ import annotations

from enum import Enum

from ..layout.text_error import TextError


class Load(Enum):
    """A use of an operand's tile other than the MMA."""

    TMA = "tma"
    """Bulk tensor copies fill it."""
    VECTORS = "16-byte"
    """Threads fill it with 16-byte stores from registers, where the data may be transposed."""
    LDMATRIX = "ldmatrix"
    """A warpgroup loads it into registers, as the A fragment of `wgmma`."""

    @classmethod
    def parse(cls, text: str) -> tuple[Load, ...]:
        """Parse one or several loads, separated by commas: `tma`, or `tma,ldmatrix`.

        Raises:
            TextError: if a word is not a load.
        """
        loads: list[Load] = []
        index = 0
        for word in text.split(","):
            if word not in (names := [load.value for load in cls]):
                problem = f"expected {', '.join(names[:-1])} or {names[-1]}"
                raise TextError("load", text, index, problem, "tma,ldmatrix")
            loads.append(cls(word))
            index += len(word) + 1
        return tuple(dict.fromkeys(loads))
