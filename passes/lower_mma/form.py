"""What all instructions of an mma have in common."""

from dataclasses import dataclass
from typing import Any

from ...dialect.bindings import ir
from ...dialect.ops.mma import MODIFIERS
from ...layout import Accumulator, Element, element


@dataclass(frozen=True)
class Form:
    """The part of an instruction that its operands do not say.

    Attributes:
        a, b: the element types.
        a_major, b_major: "k" or "mn".
        accumulator: the type that products are added in.
        modifiers: those of `smem.mma` that are set.
    """

    a: Element
    b: Element
    a_major: str
    b_major: str
    accumulator: Accumulator
    modifiers: tuple[str, ...]

    def sign(self, role: str) -> int:
        """-1 if the operand "a" or "b" is negated, else 1."""
        return -1 if f"negate_{role}" in self.modifiers else 1


def form_of(op: Any, accumulator: Accumulator) -> Form:
    """The form of the instructions of an `smem.wgmma`."""
    said = [
        ir.StringAttr(op.attributes[name]).value
        for name in ("a_element", "b_element", "a_major", "b_major")
    ]
    modifiers = tuple(name for name in MODIFIERS if name in op.attributes)
    return Form(element(said[0]), element(said[1]), said[2], said[3], accumulator, modifiers)
