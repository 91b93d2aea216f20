"""Ops on tensors without dimensions as ops on numbers.

Only where the host knows the numbers: a loop's index, an argument that is a number, a constant. The
element of any other tensor is in memory, which is the GPU's. Upstream's `linalg-detensorize` does it for
branches of `cf` alone.
"""

from __future__ import annotations

from ...bindings.irtypes import Module, Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ...ir.walk import walk
from .generic import GENERIC, body, inputs_of, is_reduction, outputs_of, owner

_FROM_ELEMENTS = "tensor.from_elements"


def detensorize(module: Module) -> None:
    """Compute the elements of tensors without dimensions as numbers, where their operands are such."""
    for op in list(walk(module, GENERIC)):
        if list(op.results) and not is_reduction(op):
            _detensorize(op)


def _detensorize(op: Op) -> None:
    arguments = body(op).arguments
    numbers: list[tuple[Value, Value]] = []
    for argument, operand in zip(arguments, [*inputs_of(op), *outputs_of(op)], strict=True):
        if not list(argument.uses):
            continue
        number = _number(op, operand)
        if number is None:
            return
        numbers.append((argument, number))
    *ops, terminator = [body_op.operation for body_op in body(op).operations]
    for argument, number in numbers:
        argument.replace_all_uses_with(number)
    for body_op in ops:
        body_op.move_before(op)
    with op.location, ir.InsertionPoint(op):
        for op_result, value in zip(op.results, terminator.operands, strict=True):
            tensor = emit.value(_FROM_ELEMENTS, (value,), op_result.type)
            op_result.replace_all_uses_with(tensor)
    op.erase()


def _number(user: Op, operand: Value) -> Value | None:
    """Return the only element of a tensor, or a number; None for an element that is in memory."""
    if not isinstance(operand.type, ir.ShapedType):
        return operand
    op = owner(operand)
    if op is not None and op.name == _FROM_ELEMENTS:
        return op.operands[0]
    if op is None or op.name != "arith.constant":
        return None
    (element,) = list(op.attributes["value"])
    with user.location, ir.InsertionPoint(user):
        return emit.constant(element, operand.type.element_type)
