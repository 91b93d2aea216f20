"""What passes of loops do to functions: copies on trial, tiles with stages, more carried values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.ops.alloc import alloc
from ...dialect.ops.subview import SubviewOp
from ...dialect.types import shape_of, tensor_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.loops import COPIES, SPECIALIZE, STAGES
from ...ir.walk import walk
from ..insert_sync import insert
from ..order.report import label


def loops_of(function: Op) -> list[Op]:
    """Return the `scf.for` of a function, in pre-order."""
    return list(walk(function, "scf.for"))


def counts_from_zero(loop: Op) -> bool:
    """Whether a loop's variable is the number of the iteration."""
    start, _, step = list(loop.operands)[:3]
    return constant_of(start) == 0 and constant_of(step) == 1


def wanted_stages(loop: Op, default: int) -> int:
    """Return how many stages are wanted; 0 for as many as fit.

    Raises:
        OpError: if the attribute is no number of stages.
    """
    if STAGES not in loop.attributes:
        return default
    attribute = loop.attributes[STAGES].maybe_downcast()
    if not isinstance(attribute, ir.IntegerAttr) or attribute.value < 0:
        raise OpError(loop, f"has {STAGES} = {attribute}; expected a number, or 0 for all that fit")
    return attribute.value


def prove(function: Op, hint: str = "") -> None:
    """Check that the synchronization of a function can be inserted.

    Raises:
        OpError: at the function, if not; `hint` ends the message.
    """
    trial = copy_of(function)
    try:
        insert(trial)
    except OpError as error:
        message = f"in the result, the {label(error.op)} {error.message}{hint}"
        raise OpError(function, message) from None
    finally:
        trial.erase()


def reason_of(error: OpError) -> str:
    """Return the message of an error, with its op."""
    return f"the {label(error.op)} {error.message}"


def copy_of(function: Op) -> Op:
    """Return a copy of a function, in front of it."""
    with ir.InsertionPoint(function):
        return function.clone().operation


def unmark(loop: Op) -> None:
    """Remove what a loop asks for: it is done."""
    for name in (STAGES, COPIES, SPECIALIZE):
        if name in loop.attributes:
            del loop.attributes[name]


def with_stages(tile: Value, stages: int) -> Value:
    """Emit the alloc of a tile with stages, where that of the tile is."""
    with ir.InsertionPoint(tile.owner), tile.owner.location:
        return alloc((stages, *shape_of(tile.type)), tensor_of(tile.type).element_type)


def in_stage(value: Value, staged: Mapping[Value, Value], user: Op) -> Value:
    """Return a view of a tile as one of its stage, made in front of the op that takes it; other values as
    they are.

    Args:
        value: the operand.
        staged: the stages, by tile.
        user: the op.
    """
    if value in staged:
        return staged[value]
    owner = value.owner
    if isinstance(owner, ir.Block) or not isinstance(owner.opview, SubviewOp):
        return value
    source = in_stage(owner.operands[0], staged, user)
    if source == owner.operands[0]:
        return value
    with ir.InsertionPoint(user):
        view = owner.operation.clone()
    view.operands[0] = source
    return view.results[0]


def with_carried(loop: Op, inits: Sequence[Value]) -> Op:
    """Let an `scf.for` carry more values, which it does not change yet; return the new loop."""
    types = [x.type for x in inits]
    results = [*(x.type for x in loop.results), *types]
    attributes = {name: loop.attributes[name] for name in loop.attributes}
    with ir.InsertionPoint(loop), loop.location:
        new = emit.op("scf.for", (*loop.operands, *inits), results, regions=1, **attributes)
    body = loop.regions[0].blocks[0]
    body.append_to(new.regions[0])
    for type_ in types:
        body.add_argument(type_, loop.location)
    for old, result in zip(loop.results, list(new.results)[: len(loop.results)], strict=True):
        old.replace_all_uses_with(result)
    loop.erase()
    return new


def yield_more(terminator: Op, values: Sequence[Value]) -> None:
    """Let a terminator yield more values."""
    if values:
        emit.op("scf.yield", (*terminator.operands, *values))
        terminator.erase()


def erase_unused(ops: Sequence[Op]) -> None:
    """Erase those ops, from the last to the first, whose results are not used."""
    for op in reversed(ops):
        if all(next(iter(result.uses), None) is None for result in op.results):
            op.erase()


def erase_dead_tiles(function: Op, tiles: Iterable[Value]) -> None:
    """Erase views that nothing takes, and then those of some tiles that nothing takes."""
    views = [op.operation for op in walk(function, SubviewOp)]
    erase_unused([*(tile.owner.operation for tile in tiles), *views])
