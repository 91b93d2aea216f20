"""Ops of StableHLO with regions as ops of `scf` and `tm_tensor`: loops, branches, sorts.

Upstream lowers only what is element-wise, sums and moves to linalg.

A `stablehlo.while` that counts becomes an `scf.for`, whose index the host has without reading memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from ..bindings.irtypes import Block, Op, Type, Value
from ..bindings.mlir import ir
from ..ir import emit
from ..ir.walk import walk
from .linalg.generic import argument_number, owner, terminator
from .tm_tensor import register_tm_tensor


def lower_regions(module: Any) -> None:
    """Replace StableHLO's loops, branches, sorts and barriers, in place; calls are inlined already."""
    # Ops inside of others come first.
    for op in reversed(list(walk(module.operation))):
        lower = _LOWERINGS.get(op.name)
        if lower is not None:
            with op.location, ir.InsertionPoint(op):
                for old, new in zip(op.results, lower(op), strict=True):
                    old.replace_all_uses_with(_cast(new, old.type))
            op.erase()


class _Count(NamedTuple):
    """What a loop counts.

    Attributes:
        carry: the number of the counter among what the loop carries.
        bound: the counter's bound, outside of the loop.
        step: what is added.
    """

    carry: int
    bound: Value
    step: int


def _lower_while(op: Op) -> list[Value]:
    count = _count_of(op)
    return _lower_general_while(op) if count is None else _lower_counted_while(op, count)


def _count_of(op: Op) -> _Count | None:
    """Match `while (i < bound) i += step`; None for another loop."""
    condition, body = (region.blocks[0] for region in op.regions)
    compare = owner(terminator(condition).operands[0])
    if compare is None or compare.name != "stablehlo.compare":
        return None
    if "LT" not in str(compare.attributes["comparison_direction"]):
        return None
    counter, bound = compare.operands
    carry = argument_number(condition, counter)
    if carry is None or not _is_integer(counter):
        return None
    step = _step(body, carry)
    if step is None or step <= 0:
        return None
    if (number := argument_number(condition, bound)) is not None:
        return _Count(carry, op.operands[number], step) if _keeps(body, number) else None
    if (constant := owner(bound)) is None or constant.name != "stablehlo.constant":
        return None
    if constant.parent.operation == op:
        constant.move_before(op)
    return _Count(carry, bound, step)


def _step(body: Block, carry: int) -> int | None:
    """Return the constant that a loop's body adds to what it carries; None for anything else."""
    add = owner(terminator(body).operands[carry])
    if add is None or add.name != "stablehlo.add":
        return None
    numbers = [_integer(operand) for operand in add.operands if operand != body.arguments[carry]]
    return numbers[0] if len(numbers) == 1 else None


def _lower_counted_while(op: Op, count: _Count) -> list[Value]:
    body = op.regions[1].blocks[0]
    inits = list(op.operands)
    begin, end = _index(inits[count.carry]), _index(count.bound)
    step = emit.constant(count.step, ir.IndexType.get())
    steps = _counters(op, count)
    carries = [
        number
        for number, result in enumerate(op.results)
        if not _keeps(body, number) and (number not in steps or list(result.uses))
    ]
    carried = [_signless(inits[number]) for number in carries]
    types = [value.type for value in carried]
    loop = emit.op("scf.for", (begin, end, step, *carried), types, regions=1)
    block = ir.Block.create_at_start(
        loop.regions[0], [ir.IndexType.get(), *types], [op.location] * (1 + len(types))
    )
    with ir.InsertionPoint(block):
        values = [*inits]
        for carry, argument in zip(carries, list(block.arguments)[1:], strict=True):
            values[carry] = argument
        for carry, (first, difference) in steps.items():
            index = emit.binary("muli", block.arguments[0], difference)
            index = emit.binary("addi", index, first)
            element = emit.cast_index(index, inits[carry].type.element_type)
            values[carry] = emit.value("tensor.from_elements", (element,), inits[carry].type)
    yielded = _move(body, block, values)
    with ir.InsertionPoint(block):
        emit.op("scf.yield", [_signless(yielded[carry]) for carry in carries])
    results = [*inits]
    for carry, value in zip(carries, loop.results, strict=True):
        results[carry] = value
    return results


def _counters(op: Op, count: _Count) -> dict[int, tuple[int, int]]:
    """Return the carries that are `first + difference * index`, with these numbers."""
    counters = {count.carry: (0, 1)}
    if _integer(op.operands[count.carry]) == 0 and count.step == 1:
        for number, init in enumerate(op.operands):
            first, difference = _integer(init), _step(op.regions[1].blocks[0], number)
            if first is not None and difference is not None and _is_integer(init):
                counters[number] = (first, difference)
    return counters


def _lower_general_while(op: Op) -> list[Value]:
    inits = [_signless(value) for value in op.operands]
    types = [value.type for value in inits]
    loop = emit.op("scf.while", inits, types, regions=2)
    for number, (old, region) in enumerate(zip(op.regions, loop.regions, strict=True)):
        block = ir.Block.create_at_start(region, types, [op.location] * len(types))
        values = _move(old.blocks[0], block, list(block.arguments))
        with ir.InsertionPoint(block):
            if number == 0:
                emit.op("scf.condition", (_scalar(values[0]), *block.arguments))
            else:
                emit.op("scf.yield", [_signless(value) for value in values])
    return list(loop.results)


def _lower_case(op: Op) -> list[Value]:
    """Lower a branch by an index; one that is out of range is that of the last region."""
    cases = ir.DenseI64ArrayAttr.get(list(range(len(op.regions) - 1)))
    chosen = _index(op.operands[0])
    # The default comes first.
    regions = [op.regions[len(op.regions) - 1], *list(op.regions)[:-1]]
    return _branch(op, "scf.index_switch", chosen, regions, cases=cases)


def _lower_if(op: Op) -> list[Value]:
    return _branch(op, "scf.if", _scalar(op.operands[0]), list(op.regions))


def _branch(
    op: Op, name: str, operand: Value, regions: Sequence[Any], **attributes: Any
) -> list[Value]:
    types = [_signless_type(result.type) for result in op.results]
    branch = emit.op(name, (operand,), types, regions=len(regions), **attributes)
    for old, new in zip(regions, branch.regions, strict=True):
        block = ir.Block.create_at_start(new, [])
        values = _move(old.blocks[0], block, [])
        with ir.InsertionPoint(block):
            emit.op("scf.yield", [_signless(value) for value in values])
    return list(branch.results)


def _lower_sort(op: Op) -> list[Value]:
    """Lower a sort; torch-mlir exchanges neighbours for which the region of its op does not hold.

    Equal elements stay in their order, because StableHLO's region holds for none of their two orders.
    """
    register_tm_tensor()
    inits = [_signless(value) for value in op.operands]
    sort = emit.op(
        "tm_tensor.sort",
        inits,
        [value.type for value in inits],
        regions=1,
        dimension=op.attributes["dimension"],
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([0, len(inits)]),
    )
    elements = [value.type.element_type for value in inits for _ in range(2)]
    block = ir.Block.create_at_start(sort.regions[0], elements, [op.location] * len(elements))
    with ir.InsertionPoint(block):
        tensors = [
            emit.value(
                "tensor.from_elements", (element,), ir.RankedTensorType.get([], element.type)
            )
            for element in block.arguments
        ]
    exchanged = [tensors[number ^ 1] for number in range(len(tensors))]
    (is_after,) = _move(op.regions[0].blocks[0], block, exchanged)
    with ir.InsertionPoint(block):
        is_after = _scalar(is_after)
        is_ordered = emit.binary("xori", is_after, emit.constant(1, is_after.type))
        emit.op("tm_tensor.yield", (is_ordered,))
    return list(sort.results)


_LOWERINGS = {
    "stablehlo.sort": _lower_sort,
    "stablehlo.while": _lower_while,
    "stablehlo.case": _lower_case,
    "stablehlo.if": _lower_if,
    "stablehlo.optimization_barrier": lambda op: list(op.operands),
}


def _move(source: Block, target: Block, values: Iterable[Value]) -> list[Value]:
    """Move the ops of a block to the end of another, and return what it returned.

    Args:
        source, target: the blocks.
        values: what replaces the arguments of `source`.
    """
    for argument, value in zip(source.arguments, values, strict=True):
        with ir.InsertionPoint(target):
            replacement = _cast(value, argument.type)
        argument.replace_all_uses_with(replacement)
    *ops, terminator = [op.operation for op in source.operations]
    for op in ops:
        target.append(op)
    return list(terminator.operands)


def _keeps(body: Block, number: int) -> bool:
    """Whether a loop's body returns what it got."""
    return terminator(body).operands[number] == body.arguments[number]


def _is_integer(value: Value) -> bool:
    """Whether a tensor has no dimensions, and signed integers."""
    type_ = ir.RankedTensorType(value.type)
    return not type_.rank and str(type_.element_type) in ("i32", "i64")


def _integer(value: Value) -> int | None:
    """Return the number of a constant that `_is_integer`; None for another value."""
    op = owner(value)
    if op is None or op.name != "stablehlo.constant" or not _is_integer(value):
        return None
    return int(ir.DenseIntElementsAttr(op.attributes["value"])[0])


def _index(value: Value) -> Value:
    """Emit an integer of a tensor without dimensions as an index."""
    number = _integer(value)
    if number is not None:
        return emit.constant(number, ir.IndexType.get())
    return emit.cast_index(_scalar(value), ir.IndexType.get())


def _scalar(value: Value) -> Value:
    value = _signless(value)
    return emit.value("tensor.extract", (value,), value.type.element_type)


def _signless_type(type_: Type) -> Type:
    element = type_.element_type
    if not isinstance(element, ir.IntegerType) or element.is_signless:
        return type_
    return ir.RankedTensorType.get(type_.shape, ir.IntegerType.get_signless(element.width))


def _signless(value: Value) -> Value:
    """Emit a tensor as one of signless elements; upstream lowers the types of no op of `scf`."""
    return _cast(value, _signless_type(value.type))


def _cast(value: Value, type_: Type) -> Value:
    if value.type == type_:
        return value
    return emit.value("builtin.unrealized_conversion_cast", (value,), type_)
