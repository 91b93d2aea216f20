"""Shapes of `wgmma.mma_async` (PTX ISA 9.7.15.2), and how a larger matrix product is cut into them."""

from __future__ import annotations

from functools import cache

from ..elements import B1, S8, U8, Element
from ..instruction import FLOAT_N, INTEGER_N, cut_columns, nearest

#: M of every `wgmma`.
INSTRUCTION_M = 64


@cache
def legal_n(element: Element) -> tuple[int, ...]:
    """Return every N of instructions on that type, ascending.

    Integer and b1 types have 8, 16, 24, 32 and then multiples of 16 (PTX ISA 9.7.15.5.1.1.3, .4).
    """
    return INTEGER_N if element in (S8, U8, B1) else FLOAT_N


def n_pieces(element: Element, n: int) -> tuple[int, ...] | None:
    """Return the N of successive instructions that compute N columns, or None; see `cut_columns`."""
    return cut_columns(legal_n(element), n)


def n_rule(n: int) -> str:
    """Return the rule for N, with the legal ones nearest to `n`, for a message."""
    return f"a multiple of 8, {nearest(max(n, 1), 8)}"
