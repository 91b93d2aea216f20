"""How a product is cut into instructions: what the instruction sets have in common."""

from __future__ import annotations

from .elements import Element

#: Bytes along K that one dense instruction usually reads of each row of A and column of B, whatever the
#: element type (PTX ISA 9.7.15.2 and 9.7.16.2.1: k16 of 16 bits, k8 of 32, k32 of 8).
INSTRUCTION_K_BYTES = 32

#: Most columns of D of one instruction (PTX ISA 9.7.15.2 and 9.7.16.2.1).
MAX_N = 256

#: Every N of instructions that add floats, and of those that add integers (PTX ISA 9.7.15.5.1.1.1 to .4).
FLOAT_N = tuple(range(8, MAX_N + 1, 8))
INTEGER_N = (8, 16, 24, 32, *range(48, MAX_N + 1, 16))


def instruction_k(element: Element, k_bytes: int = INSTRUCTION_K_BYTES) -> int:
    """K of an instruction that reads so many bytes along K, in elements."""
    return k_bytes * 8 // element.bits


def cut_columns(legal: tuple[int, ...], n: int, subtile: int = 64) -> tuple[int, ...] | None:
    """N columns cut into instructions whose N are legal; None if they cannot be.

    The cut depends on N alone, so that accumulators pass between mma of different layouts. Cuts lie
    at multiples of `part` columns (at 64, no swizzle atom of a 16-bit type is cut): equal parts if
    that allows it, else the widest instructions first.
    """
    if n in legal:
        return (n,)
    if n < 1:
        return None
    count = -(-n // MAX_N)
    if n % (subtile * count) == 0:
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


def nearest(extent: int, step: int) -> str:
    """The multiples of a step next to an extent, as examples."""
    below, above = extent // step * step, -(-extent // step) * step
    return "for example " + " or ".join(str(x) for x in (below, above) if x)
