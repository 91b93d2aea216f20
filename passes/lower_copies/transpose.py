"""Transposition of a square block of elements in the registers of a thread."""

from ...bindings.irtypes import Value
from ...bindings.mlir import ir
from ...ir import emit

#: Selectors of `prmt` (PTX ISA 9.7.9.7) that combine the even fields of two registers, and the odd
#: fields, by the bits of a field; bytes 4 to 7 are those of the second register.
_SELECTORS = {16: (0x5410, 0x7632), 8: (0x6240, 0x7351)}

#: Masks of the even fields of a register, for fields smaller than a byte, by the bits of a field.
_EVEN = {4: 0x0F0F0F0F, 2: 0x33333333, 1: 0x55555555}


def transposed(square: list[Value], bits: int, wanted: int) -> list[Value]:
    """Return the columns of a square block whose rows are given, each row in one register.

    Exchanges quadrants, then the quadrants of these, and so on; 32 columns of b1 take five steps.

    Args:
        square: the rows (i32 values); their number is the number of elements in a register.
        bits: of an element.
        wanted: how many columns to return, from the first; a power of two.
    """
    distance = len(square) // 2
    while distance:
        halves = list(square)
        for i in range(len(square)):
            if i & distance == 0:
                pair = square[i], square[i + distance]
                halves[i], halves[i + distance] = _exchanged(*pair, distance * bits)
        # Columns from `distance` on are in the second half from here on.
        square = halves[:distance] if wanted <= distance else halves
        distance //= 2
    return square


def _exchanged(upper: Value, lower: Value, bits: int) -> tuple[Value, Value]:
    """Return the even fields of two registers, and the odd fields; a field has `bits` bits."""
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


def _permuted(first: Value, second: Value, selector: int) -> Value:
    """Emit `prmt.b32`: a register of bytes that are selected from two others."""
    mode = ir.Attribute.parse("#nvvm.permute_mode<default>")
    chosen = emit.constant(selector, emit.i32())
    return emit.value("nvvm.prmt", (first, second, chosen), emit.i32(), mode=mode)
