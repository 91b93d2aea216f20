"""How the threads of a kernel divide rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from ...layout.transfer import WARP

#: Threads of a block whose rows are short, and elements of a thread where no row is summed.
_THREADS, _ELEMENTS = 256, 8

#: Elements of a thread where rows are summed: they stay in registers.
_SUMMED = 16

#: The most threads of a block, and elements of a thread.
_MOST_THREADS, MOST_ELEMENTS = 1024, 32

#: The most elements of a load: 16 bytes of 16 bits.
_VECTOR = 8


@dataclass(frozen=True)
class RowShape:
    """How the threads of a kernel divide rows.

    A thread has vectors of neighbouring elements; those of neighbouring threads are neighbours.

    Attributes:
        columns: the elements of a row.
        threads: those of a part of a row.
        vectors, width: how many vectors each thread has, and their elements.
        parts: how many parts a row has.
        groups: parts that a block has.
    """

    columns: int
    threads: int
    vectors: int
    width: int
    parts: int
    groups: int

    @staticmethod
    def of(columns: int, has_sums: bool, boundary: int) -> RowShape:
        """Return the shape of rows of so many elements; with one part if threads exchange sums.

        Args:
            columns: the elements of a row.
            has_sums: whether threads exchange sums.
            boundary: a number that divides the columns where what is read changes; 0 if none does.
        """
        width = gcd(columns, boundary, _VECTOR)
        if not has_sums and not boundary and columns >= _THREADS * _ELEMENTS:
            parts = -(-columns // (_THREADS * _ELEMENTS))
            return RowShape(columns, _THREADS, _ELEMENTS // width, width, parts, 1)
        wanted = -(-columns // (_SUMMED if has_sums else _ELEMENTS))
        threads = min(1 << (wanted - 1).bit_length(), _MOST_THREADS)
        if has_sums:
            threads = max(WARP, threads)
        else:
            # All threads change to what is read behind a boundary with the same vector.
            while (
                boundary
                and boundary % (threads * width)
                and columns <= threads * MOST_ELEMENTS // 2
            ):
                threads //= 2
        groups = max(1, _THREADS // threads) if threads == WARP or not has_sums else 1
        vectors = -(-columns // (threads * width))
        return RowShape(columns, threads, vectors, width, 1, groups)

    @property
    def is_whole(self) -> bool:
        """Whether all threads have elements."""
        return self.parts * self.threads * self.vectors * self.width == self.columns
