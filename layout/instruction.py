"""The cutting of a matrix product into instructions, for all instruction sets."""

from __future__ import annotations

from collections.abc import Sequence

from .elements import Element

#: Bytes along K that one dense instruction usually reads of each row of A and column of B, for every
#: element type (PTX ISA 9.7.15.2 and 9.7.16.2.1: k16 of 16 bits, k8 of 32, k32 of 8).
INSTRUCTION_K_BYTES = 32

#: The largest N of one instruction (PTX ISA 9.7.15.2 and 9.7.16.2.1).
MAX_N = 256

#: Every N of instructions with float accumulators and with integer ones (PTX ISA 9.7.15.5.1.1.1 to .4).
FLOAT_N = tuple(range(8, MAX_N + 1, 8))
INTEGER_N = (8, 16, 24, 32, *range(48, MAX_N + 1, 16))


def instruction_k(element: Element, k_bytes: int = INSTRUCTION_K_BYTES) -> int:
    """Return K, in elements, of an instruction that reads `k_bytes` bytes along K.

    Args:
        element: the element type.
        k_bytes: bytes along K that the instruction reads.

    Example:
        >>> instruction_k(element("bf16")), instruction_k(element("e4m3"))
        (16, 32)
    """
    return k_bytes * 8 // element.bits


def cut_columns(legal: tuple[int, ...], n: int, unit: int = 64) -> tuple[int, ...] | None:
    """Return the N of successive instructions that compute N columns, or None.

    The pieces depend on N alone, so that MMAs of different layouts can use one accumulator. They are
    equal if that makes them multiples of `unit`; otherwise the widest come first.

    Args:
        legal: every N of an instruction.
        n: the columns.
        unit: the unit of equal pieces; with 64 columns, no swizzle atom of a 16-bit type is cut.
    """
    if n in legal:
        return (n,)
    if n < 1:
        return None
    count = -(-n // MAX_N)
    if n % (unit * count) == 0:
        return (n // count,) * count
    return widest_first(legal, n)


def widest_first(legal: tuple[int, ...], n: int) -> tuple[int, ...] | None:
    """Return the N of successive instructions that compute N columns, the widest first, or None."""
    pieces: list[int] = []
    while n > 0:
        widest = max((x for x in legal if x <= n), default=None)
        if widest is None:
            return None
        pieces.append(widest)
        n -= widest
    return tuple(pieces) or None


def nearest(extent: int, step: int) -> str:
    """Return the multiples of a step next to an extent, as examples for a message."""
    below, above = extent // step * step, -(-extent // step) * step
    return "for example " + " or ".join(str(x) for x in (below, above) if x)


def rows_problem(letter: str, extent: int, rows: int, legal: Sequence[int]) -> str:
    """Return why instructions with that number of rows do not cut an operand evenly.

    Args:
        letter: the ISA's letter for the rows, M or N.
        extent: the operand's extent along m or n.
        rows: the extent along m or n of each instruction.
        legal: the extents that instructions have.
    """
    fitting = [n for n in legal if extent % n == 0]
    fits = f"; {letter} = {', '.join(map(str, fitting))} do" if fitting else ""
    return f"instructions of {letter} = {rows} do not cut {letter} = {extent} evenly{fits}"
