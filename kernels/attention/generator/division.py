"""Division of indices by 32-bit instructions."""

from __future__ import annotations

from .... import language as sl
from ....bindings.mlir import arith


def divmod_u32(number: sl.Index, by: sl.Index) -> tuple[sl.Index, sl.Index]:
    """Return the quotient and the remainder of a number by another one, both from 0 to 2^32 - 1.

    An index has 64 bits, whose division takes three times the instructions. Places of tiles are divided
    between two tiles, when the tensor cores wait.
    """
    word = arith.divui(_word(number), _word(by))
    quotient = number.rewrap(arith.index_castui(sl.index.type, word))
    return sl.unsigned(quotient), sl.unsigned(number - quotient * by)


def _word(number: sl.Index) -> object:
    return arith.index_cast(sl.i32.type, number.value)
