"""Operands of `smem.mma_desc` with several descriptors.

An operand has several descriptors if the distance between its MMA tiles is known at run time only: a
vector of descriptors, and for each MMA tile the index of the descriptor that its step is added to.
"""

from collections.abc import Sequence

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from ...layout.elements import UNIT_BYTES, WINDOW_BYTES

#: One descriptor, or several.
DescriptorOperand = ir.IntegerType[64] | ir.VectorType


def bases_of(op: Op, operand: str) -> list[int] | None:
    """Return, for each MMA tile of operand "a" or "b", the index of its descriptor in the vector; None if
    the operand is a single descriptor."""
    name = f"{operand}_bases"
    return list(op.attributes[name]) if name in op.attributes else None


def check_reach(name: str, steps: Sequence[int]) -> None:
    """Check that steps, in 16-byte units, fit the address range of a descriptor.

    Raises:
        Invalid: if one does not.
    """
    reach = WINDOW_BYTES // UNIT_BYTES
    if any(abs(step) >= reach for step in steps):
        raise Invalid(
            f"has {name} = {list(steps)}; expected units of {UNIT_BYTES} bytes, less than {reach}"
        )


def check_bases(op: Op, operand: str) -> None:
    """Check that an operand is a single descriptor, or a vector of which its MMA tiles use every element.

    Raises:
        Invalid: if it is not.
    """
    name, type_ = f"{operand}_bases", getattr(op, operand).type
    bases = op.attributes.get(name, None)
    if not isinstance(type_, ir.VectorType):
        if bases is not None:
            raise Invalid(f"has {name}, but {operand} is {type_}; expected vector<nxi64>")
        return
    tiles = len(op.attributes[f"{operand}_steps"])
    fits = isinstance(bases, ir.DenseI64ArrayAttr) and len(bases) == tiles
    count = type_.shape[0] if len(type_.shape) == 1 else 0
    if not fits or set(bases) != set(range(count)) or str(type_.element_type) != "i64":
        raise Invalid(
            f"has {name} = {bases} for {operand} of {type_}; expected vector<nxi64>, and "
            f"array<i64: ...> with an index into it for each of {tiles} MMA tiles, every index used"
        )
