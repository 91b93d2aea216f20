"""Known divisors of index values: they tell whether a subtile at a run-time offset cuts atoms."""

from math import gcd

from ..bindings.irtypes import Type, Value
from ..bindings.mlir import ir

#: The divisor of 0, which every number divides: larger than any extent.
ZERO_DIVISOR = 1 << 32

#: How many defining ops are followed.
_DEPTH = 8


def divisor(value: Value, depth: int = _DEPTH) -> int:
    """Return a number that divides the index or integer `value` in every run; 1 if nothing is known.

    Follows constants, sums, products, shifts, selects, casts and induction variables of `scf.for`,
    through at most `depth` ops.
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
            left, right = (divisor(v, depth - 1) for v in operands)
            return min(left * right, ZERO_DIVISOR)
        case "arith.addi" | "arith.subi":
            return gcd(*(divisor(v, depth - 1) for v in operands))
        case "arith.select":
            return gcd(*(divisor(v, depth - 1) for v in operands[1:]))
        case "arith.shli":
            shift = constant_of(operands[1])
            return (
                divisor(operands[0], depth - 1) << shift
                if shift is not None and 0 <= shift < 32
                else 1
            )
        case "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui":
            return divisor(operands[0], depth - 1)
        case _:
            return 1


def constant_of(value: Value) -> int | None:
    """Return the number of a value that an `arith.constant` defines; None for other values."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "arith.constant":
        return None
    # A defining op that is later in the text is not verified yet.
    attr = owner.operation.attributes.get("value")
    return attr.value if isinstance(attr, ir.IntegerAttr) and not is_wide(attr.type) else None


def is_wide(type_: Type) -> bool:
    """Whether a type is that of integers of more than 64 bits.

    The bindings take minutes to read a number of millions of bits, and no index or extent is one.
    """
    return isinstance(type_, ir.IntegerType) and type_.width > 64
