"""`linalg.generic` ops: their loops, and what their operands are read through."""

from __future__ import annotations

from collections.abc import Sequence

from ...dialect.bindings import ir
from ...dialect.irtypes import Block, Op, Value
from .unfit import Unfit

GENERIC = "linalg.generic"

#: Ops on tensors that change shapes alone.
RESHAPES = ("tensor.collapse_shape", "tensor.expand_shape", "tensor.cast")

#: Dialects whose ops on tensors do nothing but compute their results.
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


def is_reduction(op: Op) -> list[bool]:
    """Return for each loop whether it is a reduction."""
    return ["reduction" in str(each) for each in op.attributes["iterator_types"]]


def inputs_of(op: Op) -> list[Value]:
    """Return the inputs."""
    return list(op.operands)[: op.attributes["operandSegmentSizes"][0]]


def outputs_of(op: Op) -> list[Value]:
    """Return the outputs: tensors, or memrefs that it writes."""
    return list(op.operands)[op.attributes["operandSegmentSizes"][0] :]


def maps_of(op: Op) -> list[tuple[int, ...]]:
    """Return the loops that index each operand, by its dimensions.

    Raises:
        Unfit: for an operand that is indexed by something else, or twice by one loop.
    """
    found: list[tuple[int, ...]] = []
    for attribute in op.attributes["indexing_maps"]:
        results = ir.AffineMapAttr(attribute).value.results
        if not all(isinstance(each, ir.AffineDimExpr) for each in results):
            raise Unfit(f"reads an operand through {attribute}, which is no permutation of loops")
        loops = tuple(ir.AffineDimExpr(each).position for each in results)
        if len(set(loops)) != len(loops):
            raise Unfit(f"reads an operand through {attribute}, a diagonal")
        found.append(loops)
    return found


def number(value: Value) -> float | None:
    """Return the number that a scalar is; None if it is no constant."""
    op = owner(value)
    if op is None or op.name != "arith.constant":
        return None
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.IntegerAttr | ir.FloatAttr):
        return attribute.value
    return None


def is_filled_with_zeros(op: Op) -> bool:
    """Whether an op makes all elements of its output 0: a fill, named or generic."""
    if op.name == "linalg.fill":
        return number(op.operands[0]) == 0
    if op.name != GENERIC or len(list(body(op).operations)) != 1:
        return False
    (given,) = body(op).operations[0].operands
    if owner(given) is None:
        place = ir.BlockArgument(given).arg_number
        if place >= len(inputs_of(op)):
            return False
        given = inputs_of(op)[place]
    return number(given) == 0


def uses_of(values: Sequence[Value]) -> list[Op]:
    """Return the ops that use values, one for each use."""
    return [use.owner.operation for value in values for use in value.uses]


def is_needed(op: Op) -> bool:
    """Whether something else than computations that nothing uses needs an op."""
    seen: set[Op] = set()
    rest = [op]
    while rest:
        op = rest.pop()
        if op in seen:
            continue
        seen.add(op)
        if not list(op.results) or op.name.split(".")[0] not in ON_TENSORS:
            return True
        rest += uses_of(list(op.results))
    return False


def only_moves(op: Op) -> bool:
    """Whether an op transposes, broadcasts or widens one tensor."""
    names = [each.operation.name for each in body(op).operations][:-1]
    return (
        not any(is_reduction(op))
        and len(inputs_of(op)) == 1
        and all(name in _CASTS for name in names)
    )


def only_scales(op: Op) -> bool:
    """Whether an element-wise op multiplies one tensor of f32 by a number."""
    ops = [each.operation for each in body(op).operations]
    products = [each for each in ops if each.name == "arith.mulf"]
    if len(products) != 1 or {each.name for each in ops} - {*_SCALING, *_CASTS}:
        return False
    (product,), inputs = products, inputs_of(op)
    factors = [owner(each) for each in product.operands]
    is_f32 = len(inputs) == 1 and isinstance(inputs[0].type.element_type, ir.F32Type)
    return is_f32 and sum(each is None for each in factors) == 1
