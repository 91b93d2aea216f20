"""Memrefs that loops carry and branches return: contiguous where all that reaches them is.

Upstream's bufferization gives those of nested loops strides and offsets that are only known at run time,
and casts what it allocated to them.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...bindings.irtypes import Module, Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.memrefs import has_identity_layout
from ...ir import emit
from ...ir.walk import walk
from .generic import owner, terminator

_BRANCHES = ("scf.if", "scf.index_switch")


@dataclass(frozen=True)
class _Slot:
    """A memref of a loop or branch.

    Attributes:
        values: the results and block arguments that are this memref.
        uses: what reaches it: ops, and the numbers of their operands.
    """

    values: list[Value]
    uses: list[tuple[Op, int]]

    @property
    def type(self) -> Type:
        return self.values[0].type

    @property
    def contiguous_type(self) -> Type:
        return ir.MemRefType.get(self.type.shape, self.type.element_type)


def keep_contiguous(module: Module) -> None:
    """Give carried memrefs contiguous types, in place, where only contiguous memrefs reach them."""
    slots = [slot for op in walk(module) for slot in _slots(op) if _is_strided(slot.type)]
    while True:
        values = [value for slot in slots for value in slot.values]
        contiguous = [
            slot
            for slot in slots
            if all(_is_contiguous(op.operands[number], values) for op, number in slot.uses)
        ]
        if len(contiguous) == len(slots):
            break
        slots = contiguous
    for slot in slots:
        for op, number in slot.uses:
            op.operands[number] = _uncast(op.operands[number])
    for slot in slots:
        for value in slot.values:
            _make_contiguous(value, slot, slots)


def _make_contiguous(value: Value, slot: _Slot, slots: list[_Slot]) -> None:
    """Change a value's type; its users, without other carried memrefs, get it cast."""
    before, reaching = value.type, [use for each in slots for use in each.uses]
    value.set_type(slot.contiguous_type)
    users = [(use.owner.operation, use.operand_number) for use in value.uses]
    is_argument = isinstance(value.owner, ir.Block)
    place = (
        ir.InsertionPoint.at_block_begin(value.owner)
        if is_argument
        else ir.InsertionPoint.after(value.owner)
    )
    with place, ir.Location.unknown():
        cast = emit.value("memref.cast", (value,), before)
    for user, number in users:
        if (user, number) not in reaching:
            user.operands[number] = cast


def _slots(op: Op) -> list[_Slot]:
    results = list(op.results)
    if op.name == "scf.for":
        body = op.regions[0].blocks[0]
        return [
            _Slot([result, body.arguments[1 + i]], [(op, 3 + i), (terminator(body), i)])
            for i, result in enumerate(results)
        ]
    if op.name in _BRANCHES:
        ends = [terminator(region.blocks[0]) for region in op.regions if region.blocks]
        return [_Slot([result], [(end, i) for end in ends]) for i, result in enumerate(results)]
    if op.name == "scf.while":
        before, after = (region.blocks[0] for region in op.regions)
        carried = [
            _Slot([argument], [(op, i), (terminator(after), i)])
            for i, argument in enumerate(before.arguments)
        ]
        passed = [
            _Slot([result, after.arguments[i]], [(terminator(before), 1 + i)])
            for i, result in enumerate(results)
        ]
        return carried + passed
    return []


def _is_strided(type_: Type) -> bool:
    return isinstance(type_, ir.MemRefType) and not has_identity_layout(type_)


def _is_contiguous(value: Value, carried: list[Value]) -> bool:
    source = _uncast(value)
    return source in carried or has_identity_layout(source.type)


def _uncast(value: Value) -> Value:
    op = owner(value)
    return op.operands[0] if op is not None and op.name == "memref.cast" else value
