"""What is known of the divisors of an index value: enough to know that a slice keeps to its atoms."""

from math import gcd
from typing import Any

from .bindings import ir

#: Divisor of a value that is 0: every number divides it. Larger than any extent.
ZERO_DIVISOR = 1 << 32

_DEPTH = 8


def divisor(value: Any, depth: int = _DEPTH) -> int:
    """A number that divides the index or integer `value` in every run; 1 if nothing is known.

    Looks through constants, sums, products, shifts, selections and the induction variables of
    `scf.for`, to a small depth.
    """
    constant = constant_of(value)
    if constant is not None:
        return abs(constant) or ZERO_DIVISOR
    if depth == 0:
        return 1
    owner = value.owner
    if isinstance(owner, ir.Block):
        loop = owner.owner
        if loop.operation.name == "scf.for" and value == owner.arguments[0]:
            lower, _, step = list(loop.operation.operands)[:3]
            return gcd(divisor(lower, depth - 1), divisor(step, depth - 1))
        return 1
    operands = list(owner.operation.operands)
    match owner.operation.name:
        case "arith.muli":
            subtiles = [divisor(v, depth - 1) for v in operands]
            return min(subtiles[0] * subtiles[1], ZERO_DIVISOR)
        case "arith.addi" | "arith.subi":
            return gcd(*(divisor(v, depth - 1) for v in operands))
        case "arith.select":
            return gcd(*(divisor(v, depth - 1) for v in operands[1:]))
        case "arith.shli":
            by = constant_of(operands[1])
            return divisor(operands[0], depth - 1) << by if by is not None and 0 <= by < 32 else 1
        case "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui":
            return divisor(operands[0], depth - 1)
        case _:
            return 1


def constant_of(value: Any) -> int | None:
    """The number that a value is, if it is defined by an `arith.constant`."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    # An op that comes later in the text is not verified yet.
    attr = owner.operation.attributes.get("value")
    return attr.value if isinstance(attr, ir.IntegerAttr) else None
