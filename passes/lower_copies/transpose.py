"""Squares of elements in registers: their rows and columns are exchanged."""

from typing import Any

from ...dialect.bindings import ir
from ...ir import emit

#: Selectors of `prmt` (PTX ISA 9.7.9.7) that put together the even parts of two registers, and the
#: odd parts, by the bits of a part; bytes 4 to 7 are the second register's.
_SELECTORS = {16: (0x5410, 0x7632), 8: (0x6240, 0x7351)}

#: The even parts of a register, where a part is no whole byte.
_EVEN = {4: 0x0F0F0F0F, 2: 0x33333333, 1: 0x55555555}


def transposed(square: list[Any], bits: int, wanted: int) -> list[Any]:
    """The columns of a square whose rows are given, each a register of elements of `bits`.

    Exchanges quadrants, then the quadrants of these, and so on; 32 columns of b1 take five steps.

    Args:
        square: i32 values; as many as a register holds elements.
        bits: of an element.
        wanted: how many columns, from the first; a power of two.
    """
    distance = len(square) // 2
    while distance:
        halves = list(square)
        for i in range(len(square)):
            if i & distance == 0:
                pair = square[i], square[i + distance]
                halves[i], halves[i + distance] = _exchanged(*pair, distance * bits)
        # Columns from `distance` on are in the lower half from here on.
        square = halves[:distance] if wanted <= distance else halves
        distance //= 2
    return square


def _exchanged(upper: Any, lower: Any, bits: int) -> tuple[Any, Any]:
    """The even parts of both, and the odd parts of both; a part has `bits`."""
    if bits in _SELECTORS:
        even, odd = _SELECTORS[bits]
        return _permuted(upper, lower, even), _permuted(upper, lower, odd)
    mask = _EVEN[bits]
    above = mask << bits
    even = emit.binary(
        "ori",
        emit.binary("andi", upper, mask),
        emit.binary("andi", emit.binary("shli", lower, bits), above),
    )
    odd = emit.binary(
        "ori",
        emit.binary("andi", emit.binary("shrui", upper, bits), mask),
        emit.binary("andi", lower, above),
    )
    return even, odd


def _permuted(first: Any, second: Any, selector: int) -> Any:
    """`prmt.b32`: a register of bytes of two others."""
    mode = ir.Attribute.parse("#nvvm.permute_mode<default>")
    chosen = emit.constant(selector, emit.i32())
    return emit.value("nvvm.prmt", (first, second, chosen), emit.i32(), mode=mode)
