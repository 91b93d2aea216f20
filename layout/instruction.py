"""Shapes of `wgmma.mma_async` (PTX ISA 9.7.15.2), and how a larger product is cut into them."""

from __future__ import annotations

from functools import cache

from .elements import B1, S8, U8, Element

#: Rows of D that one `wgmma` computes, always; and one `tcgen05.mma`, where there are as many.
INSTRUCTION_M = 64
TCGEN05_M = 128
MAX_N = 256


def instruction_rows(m: int, tcgen05: bool) -> int:
    """Rows of D of each instruction of a product of M rows: a `tcgen05.mma` of 64 uses half of the tensor
    core."""
    return TCGEN05_M if tcgen05 and m % TCGEN05_M == 0 else INSTRUCTION_M


@cache
def legal_n(element: Element) -> tuple[int, ...]:
    """Every N that an instruction on multiplicands of that type can have, ascending.

    Integer and b1 types have 8, 16, 24, 32 and then multiples of 16 (PTX ISA 9.7.15.5.1.1.3, .4).
    """
    if element in (S8, U8, B1):
        return (8, 16, 24, 32, *range(48, MAX_N + 1, 16))
    return tuple(range(8, MAX_N + 1, 8))


def n_pieces(element: Element, n: int) -> tuple[int, ...] | None:
    """How a product of N columns is cut into instructions; None if it cannot be.

    The cut depends on N alone, so that accumulators pass between mma of different layouts. Cuts lie
    at multiples of 64 columns, where no swizzle atom of a 16-bit type is cut: equal parts if
    that allows it, else the widest instructions first.
    """
    return cut_columns(legal_n(element), n)


def cut_columns(legal: tuple[int, ...], n: int, part: int = 64) -> tuple[int, ...] | None:
    """N columns cut as `n_pieces` does, into instructions whose N are legal; None if they cannot be.

    Equal parts are multiples of `part`.
    """
    if n in legal:
        return (n,)
    if n < 1:
        return None
    count = -(-n // MAX_N)
    if n % (part * count) == 0:
        return (n // count,) * count
    return widest_first(legal, n)


def widest_first(legal: tuple[int, ...], n: int) -> tuple[int, ...] | None:
    """N columns cut into instructions whose N are legal, the widest first; None if they cannot be."""
    pieces: list[int] = []
    while n > 0:
        widest = max((x for x in legal if x <= n), default=None)
        if widest is None:
            return None
        pieces.append(widest)
        n -= widest
    return tuple(pieces) or None


def n_rule(element: Element, n: int) -> str:
    """What N must be, with the legal ones nearest to `n`."""
    rule = "a multiple of 8"
    below, above = n // 8 * 8, -(-n // 8) * 8
    nearest = " or ".join(str(x) for x in sorted({below, above or 8}) if x)
    return f"{rule}, for example {nearest}"
