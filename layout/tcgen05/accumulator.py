"""The layouts of D in tensor memory: A, B, D and F in the figures of PTX ISA 9.7.16.10.5."""

from __future__ import annotations

from dataclasses import dataclass

from .shapes import MAX_N, MmaShape, MmaShapeError

#: Rows of D that are on neighbouring lanes in every layout.
BAND_ROWS = 16

#: The layout's letter by M and CTAs.
_LETTERS = {(256, 2): "A", (128, 2): "B", (128, 1): "D", (64, 1): "F"}


@dataclass(frozen=True)
class AccumulatorLayout:
    """D of an instruction.

    Attributes:
        shape: the instruction's shape.

    Raises:
        MmaShapeError: if no dense instruction of any kind has that M with that number of CTAs, or that N.
    """

    shape: MmaShape

    def __post_init__(self) -> None:
        m, n, ctas = self.shape.m, self.shape.n, self.shape.ctas
        if (m, ctas) not in _LETTERS:
            rows_text = ", ".join(f"{rows} of cta_group::{count}" for rows, count in _LETTERS)
            raise MmaShapeError(f"D of {self.shape} has {m} rows; expected one of {rows_text}")
        if not 0 < n <= MAX_N or n % (8 * ctas):
            raise MmaShapeError(
                f"D of {self.shape} has {n} columns; expected a multiple of {8 * ctas} up to {MAX_N}"
            )

    @property
    def letter(self) -> str:
        """The layout's letter in the ISA's figures."""
        return _LETTERS[self.shape.m, self.shape.ctas]

    @property
    def columns(self) -> int:
        """Columns that it takes of each CTA's tensor memory."""
        return self.shape.n // 2 if self.letter == "B" else self.shape.n

    def place(self, row: int, column: int) -> tuple[int, int, int]:
        """Return (CTA, lane, column) of an element, relative to the accumulator's address."""
        if self.letter == "B":
            half, within = divmod(column, self.columns)
            return row // 64, row % 64 + 64 * half, within
        if self.letter == "F":
            return 0, row // BAND_ROWS * 2 * BAND_ROWS + row % BAND_ROWS, column
        cta, lane = divmod(row, 128)
        return cta, lane, column
