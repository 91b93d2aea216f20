"""Shapes of `wgmma.mma_async` (PTX ISA 9.7.15.2), and how a larger product is cut into them."""

from __future__ import annotations

from functools import cache

from ..elements import B1, S8, U8, Element
from ..instruction import FLOAT_N, INTEGER_N, cut_columns, nearest

#: Rows of D that one `wgmma` computes, always.
INSTRUCTION_M = 64


@cache
def legal_n(element: Element) -> tuple[int, ...]:
    """Every N that an instruction on multiplicands of that type can have, ascending.

    Integer and b1 types have 8, 16, 24, 32 and then multiples of 16 (PTX ISA 9.7.15.5.1.1.3, .4).
    """
    return INTEGER_N if element in (S8, U8, B1) else FLOAT_N


def n_pieces(element: Element, n: int) -> tuple[int, ...] | None:
    """How a product of N columns is cut into instructions; None if it cannot be. See `cut_columns`."""
    return cut_columns(legal_n(element), n)


def n_rule(n: int) -> str:
    """What N must be, with the legal ones nearest to `n`."""
    return f"a multiple of 8, {nearest(max(n, 1), 8)}"
