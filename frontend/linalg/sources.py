"""Tensors behind slices, reshapes and concatenations, also of what is computed for these."""

from __future__ import annotations

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...ir import emit
from ..moves import split_index
from .element_wise import is_element_wise
from .generic import GENERIC, RESHAPES, body, is_reduction, only_moves, owner, terminator

CONCAT, SLICE = "tensor.concat", "tensor.extract_slice"

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def constant_of(tensor: Value) -> Value | None:
    """Return the number that all elements of a tensor are; None for other tensors."""
    op = owner(tensor)
    if op is None or op.name != GENERIC or any(is_reduction(op)) or len(op.results) != 1:
        return None
    number = terminator(body(op)).operands[0]
    maker = owner(number)
    is_outside = maker is not None and maker.block != body(op)
    return number if is_outside else None


def read_tensors(op: Op) -> list[Value]:
    """Return the tensors of which a generic op reads elements from memory."""
    return [
        operand
        for operand, argument in zip(op.operands, body(op).arguments, strict=True)
        if isinstance(operand.type, ir.ShapedType)
        and next(iter(argument.uses), None) is not None
        and constant_of(operand) is None
    ]


def sources_of(tensor: Value) -> list[Value]:
    """Return the tensors in memory whose elements a tensor has: itself, unless a slice or a concatenation
    has made it, which would be a copy."""
    if not _is_behind_copies(tensor):
        return [tensor]
    op = tensor.owner.operation
    behind = read_tensors(op) if op.name == GENERIC else list(op.operands)[: _count(op)]
    sources: list[Value] = []
    for value in behind:
        sources += [x for x in _all_sources(value) if x not in sources]
    return sources


def inline_sources(op: Op) -> list[Value]:
    """Return the results of generic ops that are computed where a generic op reads elements of them."""
    found: list[Value] = []
    stack = [x for x in read_tensors(op) if sources_of(x) != [x]]
    while stack:
        maker = owner(stack.pop())
        if maker is None:
            continue
        if maker.name == GENERIC:
            found += maker.results
            stack += read_tensors(maker)
        elif maker.name in (CONCAT, SLICE, *RESHAPES):
            stack += [x for x in list(maker.operands)[: _count(maker)] if sources_of(x) != [x]]
    return found


def column_boundaries(tensor: Value) -> list[int]:
    """Return the extents of parts that are concatenated along the last dimension of what a tensor has."""
    op = owner(tensor)
    if op is None or sources_of(tensor) == [tensor]:
        return []
    behind = read_tensors(op) if op.name == GENERIC else list(op.operands)[: _count(op)]
    columns = [size for x in behind for size in column_boundaries(x)]
    if op.name == CONCAT and ir.IntegerAttr(op.attributes["dim"]).value == tensor.type.rank - 1:
        columns += [x.type.shape[-1] for x in op.operands]
    return columns


def _all_sources(tensor: Value) -> list[Value]:
    op = owner(tensor)
    if op is not None and op.name == GENERIC and not _is_inlined(op):
        return [tensor]
    return sources_of(tensor)


def _count(op: Op) -> int:
    return len(op.operands) if op.name == CONCAT else 1


def _is_behind_copies(tensor: Value) -> bool:
    """Whether a tensor is a slice or a concatenation of others, or computed of such for one reader."""
    op = owner(tensor)
    if op is None:
        return False
    if op.name == CONCAT:
        return all(_DYNAMIC not in x.type.shape for x in op.operands)
    if op.name == SLICE:
        return all(stride == 1 for stride in _statics(op, "static_strides"))
    if op.name in RESHAPES and op.name != "tensor.cast":
        is_static = all(_DYNAMIC not in x.type.shape for x in (op.operands[0], op.results[0]))
        return is_static and _is_behind_copies(op.operands[0])
    return op.name == GENERIC and _is_inlined(op)


def _is_inlined(op: Op) -> bool:
    """Whether elements of an op's result are computed where they are read: it only moves elements, or is
    for one concatenation alone, which reads it at other places."""
    if not is_element_wise(op, len(is_reduction(op))):
        return False
    uses = [use.owner.operation.name for result in op.results for use in result.uses]
    return uses == [CONCAT] or only_moves(op)


def places_behind(op: Op, places: list[Value]) -> list[Value]:
    """Emit where an element of the result of a slice or a reshape is in its operand."""
    if op.name == SLICE:
        return _before_slice(op, places)
    source, result = list(op.operands[0].type.shape), list(op.results[0].type.shape)
    number = emit.constant(0, ir.IndexType.get())
    for place, extent in zip(places, result, strict=True):
        number = emit.binary("addi", emit.binary("muli", number, extent), place)
    return split_index(number, source)


def _before_slice(op: Op, places: list[Value]) -> list[Value]:
    sizes, offsets = _statics(op, "static_sizes"), _statics(op, "static_offsets")
    dynamic = iter(list(op.operands)[1:])
    starts = [next(dynamic) if x == _DYNAMIC else x for x in offsets]
    # Others than the dimensions of the result have extent 1.
    shape, remaining = list(op.results[0].type.shape), list(places)
    behind: list[Value] = []
    for size, start in zip(sizes, starts, strict=True):
        is_kept = shape[:1] == [size]
        place = remaining.pop(0) if is_kept else emit.constant(0, ir.IndexType.get())
        shape = shape[is_kept:]
        behind.append(emit.binary("addi", place, start))
    return behind


def _statics(op: Op, name: str) -> list[int]:
    return list(ir.DenseI64ArrayAttr(op.attributes[name]))
