"""`linalg.generic` ops: their loops, operands and indexing maps."""

from __future__ import annotations

from collections.abc import Sequence

from ...bindings.irtypes import Attribute, Block, Op, Value
from ...bindings.mlir import ir
from .unsupported import Unsupported

GENERIC = "linalg.generic"

#: Ops on tensors that change only shapes.
RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape", "tensor.cast")

#: Dialects whose ops on tensors have no effect but their results.
ON_TENSORS = ("linalg", "tm_tensor", "tensor", "arith")

#: Ops of a body that multiplies by a number.
_SCALING = ("arith.mulf", "arith.truncf", "linalg.yield")

_CASTS = ("arith.extf", "arith.extsi", "arith.extui")


def owner(value: Value) -> Op | None:
    """Return the op whose result a value is; None for the argument of a block."""
    return None if isinstance(value.owner, ir.Block) else value.owner.operation


def body(op: Op) -> Block:
    """Return the block of a generic op."""
    return op.regions[0].blocks[0]


def terminator(block: Block) -> Op:
    """Return the last op of a block."""
    return block.operations[len(block.operations) - 1].operation


def argument_number(block: Block, value: Value) -> int | None:
    """Return the number of a block's argument; None for any other value."""
    arguments = list(block.arguments)
    return arguments.index(value) if value in arguments else None


def is_reduction(op: Op) -> list[bool]:
    """Return for each loop whether it is a reduction."""
    return ["reduction" in str(iterator) for iterator in op.attributes["iterator_types"]]


def inputs_of(op: Op) -> list[Value]:
    """Return the inputs."""
    return list(op.operands)[: op.attributes["operandSegmentSizes"][0]]


def outputs_of(op: Op) -> list[Value]:
    """Return the outputs: tensors, or memrefs that it writes."""
    return list(op.operands)[op.attributes["operandSegmentSizes"][0] :]


def maps_of(op: Op) -> list[tuple[int, ...]]:
    """Return the loops that index each operand, by dimension.

    Raises:
        Unsupported: for another index, or one loop that indexes two dimensions.
    """
    maps: list[tuple[int, ...]] = []
    for attribute in op.attributes["indexing_maps"]:
        loops = _loops_of(attribute)
        if loops is None:
            raise Unsupported(
                f"reads an operand through {attribute}, which is no permutation of loops"
            )
        if len(set(loops)) != len(loops):
            raise Unsupported(f"reads an operand through {attribute}, a diagonal")
        maps.append(loops)
    return maps


def _loops_of(attribute: Attribute) -> tuple[int, ...] | None:
    """Return the loops that are the results of a map; None if it has other results."""
    results = ir.AffineMapAttr(attribute).value.results
    if not all(isinstance(expr, ir.AffineDimExpr) for expr in results):
        return None
    return tuple(ir.AffineDimExpr(expr).position for expr in results)


def constant_number(value: Value) -> float | None:
    """Return the value of a constant scalar; None if it is no constant."""
    op = owner(value)
    if op is None or op.name != "arith.constant":
        return None
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.IntegerAttr | ir.FloatAttr):
        return attribute.value
    return None


def is_filled_with_zeros(op: Op) -> bool:
    """Whether an op fills its output with zeros: `linalg.fill` or a generic op."""
    if op.name == "linalg.fill":
        return constant_number(op.operands[0]) == 0
    if op.name != GENERIC or len(list(body(op).operations)) != 1:
        return False
    yielded = list(body(op).operations[0].operands)
    if len(yielded) != 1 or any(is_reduction(op)) or not _writes_all_elements(op):
        return False
    argument, inputs = argument_number(body(op), yielded[0]), inputs_of(op)
    if argument is None:
        return constant_number(yielded[0]) == 0
    return argument < len(inputs) and constant_number(inputs[argument]) == 0


def _writes_all_elements(op: Op) -> bool:
    """Whether the output of a generic op has exactly one dimension for each loop."""
    *_, written = op.attributes["indexing_maps"]
    return sorted(_loops_of(written) or ()) == list(range(len(is_reduction(op))))


def uses_of(values: Sequence[Value]) -> list[Op]:
    """Return the ops that use values, one for each use."""
    return [use.owner.operation for value in values for use in value.uses]


def is_needed(op: Op) -> bool:
    """Whether an op without results, or outside of `ON_TENSORS`, uses an op, also through others."""
    visited: set[Op] = set()
    stack = [op]
    while stack:
        op = stack.pop()
        if op in visited:
            continue
        visited.add(op)
        if not list(op.results) or op.name.split(".")[0] not in ON_TENSORS:
            return True
        stack += uses_of(list(op.results))
    return False


def only_moves(op: Op) -> bool:
    """Whether an op transposes, broadcasts or widens one tensor."""
    inputs, block = inputs_of(op), body(op)
    if any(is_reduction(op)) or len(inputs) != 1 or len(outputs_of(op)) != 1:
        return False
    value = terminator(block).operands[0]
    while (cast := owner(value)) is not None and cast.name in _CASTS:
        value = cast.operands[0]
    is_shaped = isinstance(inputs[0].type, ir.ShapedType)
    return is_shaped and argument_number(block, value) == 0


def only_scales(op: Op) -> bool:
    """Whether an element-wise op multiplies one tensor of f32 by a number."""
    ops = [body_op.operation for body_op in body(op).operations]
    products = [body_op for body_op in ops if body_op.name == "arith.mulf"]
    if len(products) != 1 or {body_op.name for body_op in ops} - {*_SCALING, *_CASTS}:
        return False
    inputs = inputs_of(op)
    if len(inputs) != 1 or not isinstance(inputs[0].type, ir.ShapedType):
        return False
    factors = [argument_number(body(op), operand) for operand in products[0].operands]
    return isinstance(inputs[0].type.element_type, ir.F32Type) and factors.count(0) == 1
