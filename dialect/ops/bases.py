"""Operands of `smem.mma_desc` that need several descriptors, because blocks are apart by what only the
running kernel knows: a vector of them, and for each block which one it is a constant step from."""

from collections.abc import Sequence
from typing import Any

from ...layout.elements import UNIT_BYTES, WINDOW_BYTES
from ..bindings import ir
from ..diagnostics import Invalid

#: One descriptor, or several.
Descriptors = ir.IntegerType[64] | ir.VectorType


def bases_of(op: Any, operand: str) -> list[int] | None:
    """For each block of operand "a" or "b", its descriptor's place in the vector; None if the operand
    is one descriptor."""
    name = f"{operand}_bases"
    return list(op.attributes[name]) if name in op.attributes else None


def check_reach(name: str, steps: Sequence[int]) -> None:
    """Checks that steps, in 16-byte units, stay in what the addresses of a descriptor reach.

    Raises:
        Invalid: if one does not.
    """
    reach = WINDOW_BYTES // UNIT_BYTES
    if any(abs(step) >= reach for step in steps):
        raise Invalid(
            f"has {name} = {list(steps)}; expected units of {UNIT_BYTES} bytes, less than {reach}"
        )


def check_bases(op: Any, operand: str) -> None:
    """Checks that an operand is one descriptor, or a vector of those that its blocks name.

    Raises:
        Invalid: if it is not.
    """
    name, type_ = f"{operand}_bases", getattr(op, operand).type
    given = op.attributes.get(name, None)
    if not isinstance(type_, ir.VectorType):
        if given is not None:
            raise Invalid(f"has {name}, but {operand} is {type_}; expected vector<nxi64>")
        return
    blocks = len(op.attributes[f"{operand}_steps"])
    fits = isinstance(given, ir.DenseI64ArrayAttr) and len(given) == blocks
    count = type_.shape[0] if len(type_.shape) == 1 else 0
    if not fits or set(given) != set(range(count)) or str(type_.element_type) != "i64":
        raise Invalid(
            f"has {name} = {given} for {operand} of {type_}; expected vector<nxi64>, and in an "
            f"array<i64: ...> for each of {blocks} blocks one of its elements, each at least once"
        )
