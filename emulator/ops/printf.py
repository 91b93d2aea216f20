"""gpu.printf: the text of each thread, in the order of the threads, on Python's standard output."""

from __future__ import annotations

import re
import sys
from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..kernel import Op
from ..registry import executes
from ..types import as_signed, dtype_of

#: A conversion of C's printf: flags, width and precision; the length; the letter.
_CONVERSION = re.compile(r"%(?:%|([-+ #0]*\d*(?:\.\d+)?)(hh|h|ll|l|j|z|t|)([diouxXcfFeEgGaAsp]))")


@executes("gpu.printf")
def _printf(op: Op) -> Any:
    text = op.string("format")
    conversions = [match for match in _CONVERSION.finditer(text) if match[0] != "%%"]
    if len(conversions) != len(op.operands):
        raise op.refuse(
            f"has {len(op.operands)} arguments for the {len(conversions)} conversions of its format"
        )
    for conversion, type_ in zip(conversions, op.operand_types, strict=True):
        letter, kind = conversion[3], dtype_of(type_, op.location).kind
        if letter in "sapA" or (letter in "fFeEgG") == (kind in "biu"):
            raise op.refuse(f"prints {type_} as {conversion[0]}, which the emulator does not know")
    # Python's lengths of numbers are those of the arguments.
    plain = _CONVERSION.sub(lambda match: f"%{match[1] or ''}{match[3] or '%'}", text)
    letters = [conversion[3] for conversion in conversions]

    def step(convergent: ConvergentThreads, *values: Any) -> None:
        columns = [
            _numbers(convergent.broadcast(convergent.check_value(value)), letter)
            for value, letter in zip(values, letters, strict=True)
        ]
        rows = zip(*columns, strict=True) if columns else [()] * convergent.lanes.count
        sys.stdout.write("".join(plain % row for row in rows))

    return step


def _numbers(array: np.ndarray, letter: str) -> list[Any]:
    """Return a column of arguments as Python's numbers; those of `d` and `i` have a sign, but for i1."""
    if array.dtype.kind in "biu":
        is_signed = letter in "di" and array.dtype.kind != "b"
        return (as_signed(array) if is_signed else array.astype(np.uint64)).tolist()
    return array.astype(np.float64).tolist()
