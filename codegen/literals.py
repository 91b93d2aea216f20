"""Floating-point literals of LLVM IR, rewritten from the newest notation to one that every LLVM reads.

The LLVM of the bindings prints short decimals that round to a constant (`float 1.000000e-01`), names like
`+qnan`, and otherwise the type's own bits (`float f0x3FB8AA3B`). The LLVM of llvmlite reads decimals only
where they are exact, and hexadecimal bits in LLVM's older notation.
"""

import re
from decimal import Decimal

import ml_dtypes
import numpy as np

_LITERAL = (
    r"[-+]?\d+\.\d+(?:e[-+]?\d+)?\b|[-+](?:inf\b|qnan\b|s?nan\(0x[0-9a-fA-F]+\))"
    r"|(?<![\w%@$.-])f0x[0-9a-fA-F]+\b"
)

#: Types and literals of a line; assembly and other strings are matched too, and stay unchanged.
_WORD = re.compile(rf'"[^"]*"|(?P<type>\b(?:half|bfloat|float|double)\b)|(?P<literal>{_LITERAL})')
_ANY_LITERAL = re.compile(_LITERAL)

#: For each type: its NumPy type, an integer type of its size, and the bit that makes a NaN quiet.
_TYPES = {
    "half": (np.float16, np.uint16, 9),
    "bfloat": (ml_dtypes.bfloat16, np.uint16, 6),
    "float": (np.float32, np.uint32, 22),
    "double": (np.float64, np.uint64, 51),
}


def portable_literals(llvm_ir: str) -> str:
    """Return the same IR with every floating-point literal in hexadecimal."""
    if not _ANY_LITERAL.search(llvm_ir):
        return llvm_ir
    lines = llvm_ir.split("\n")
    return "\n".join(_portable(x) if _ANY_LITERAL.search(x) else x for x in lines)


def _portable(line: str) -> str:
    """Rewrite a line. A literal has the type that is named last before it: LLVM names an instruction's
    type once."""
    type_name = "double"

    def rewrite(match: re.Match[str]) -> str:
        nonlocal type_name
        if match["type"]:
            type_name = match["type"]
        if match["literal"]:
            return _hexadecimal(match["literal"], type_name)
        return match[0]

    return _WORD.sub(rewrite, line)


def _hexadecimal(literal: str, type_name: str) -> str:
    bits = _bits(literal, type_name)
    if type_name in ("half", "bfloat"):
        return f"0x{'H' if type_name == 'half' else 'R'}{bits:04X}"
    if type_name == "double":
        return f"0x{bits:016X}"
    # LLVM writes a float as the double of the same value; a NaN keeps its payload's top bits.
    sign, exponent, fraction = bits >> 31, bits >> 23 & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return f"0x{sign << 63 | 0x7FF << 52 | fraction << 29:016X}"
    return f"0x{int(np.float64(np.uint32(bits).view(np.float32)).view(np.uint64)):016X}"


def _bits(literal: str, type_name: str) -> int:
    """Return the bits of a literal in its type."""
    if literal.startswith("f0x"):
        return int(literal[3:], 16)
    float_type, integer, quiet_bit = _TYPES[type_name]
    if "nan" not in literal:
        exact = Decimal(literal.replace("inf", "Infinity"))
        return int(np.asarray(float(exact), np.float64).astype(float_type).view(integer))
    negative = int(np.asarray(-np.inf, np.float64).astype(float_type).view(integer))
    bits = (
        negative if literal[0] == "-" else int(np.asarray(np.inf).astype(float_type).view(integer))
    )
    payload = re.search(r"0x([0-9a-fA-F]+)", literal)
    bits |= int(payload[1], 16) if payload else 0
    return bits if "snan" in literal else bits | 1 << quiet_bit
