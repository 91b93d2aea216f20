"""The attribute `smem.precision`: how exactly a contraction is to be computed."""

from __future__ import annotations

from ...bindings.irtypes import Op
from ...bindings.mlir import ir
from .unsupported import Unsupported

#: The attribute of a contraction. Its values are those of StableHLO and JAX: "highest" asks for products
#: and sums of f32, the others allow tf32 (`jax.lax.Precision`).
PRECISION, HIGHEST = "smem.precision", "highest"

_VALUES = (HIGHEST, "high", "default")

#: Why tensor cores do not have the highest precision, by the element type of an operand.
_LESS = {
    "f32": "round f32 to tf32",
    # DeepSeek-V3's report, 3.3.2: the sums of 8-bit floats have about 14 bits on Hopper.
    "f8E4M3FN": "add products of 8-bit floats with fewer bits than f32 has",
    "f8E5M2": "add products of 8-bit floats with fewer bits than f32 has",
}


def is_highest(op: Op) -> bool:
    """Whether a contraction asks for products and sums of f32.

    Raises:
        Unsupported: if the attribute has an unknown value.
    """
    if PRECISION not in op.attributes:
        return False
    attribute = op.attributes[PRECISION]
    precision = ir.StringAttr(attribute).value if isinstance(attribute, ir.StringAttr) else None
    if precision not in _VALUES:
        expected = " or ".join(f'"{name}"' for name in _VALUES)
        raise Unsupported(f"has {PRECISION} = {attribute}; expected {expected}")
    return precision == HIGHEST


def check_precision(op: Op, elements: tuple[str, ...]) -> None:
    """Check that tensor cores have the precision that a contraction asks for.

    Args:
        op: the contraction.
        elements: the element types of its operands.

    Raises:
        Unsupported: if they do not have it.
    """
    shortfall = next((_LESS[element] for element in elements if element in _LESS), None)
    if is_highest(op) and shortfall is not None:
        raise Unsupported(f'has {PRECISION} = "{HIGHEST}", but tensor cores {shortfall}')
