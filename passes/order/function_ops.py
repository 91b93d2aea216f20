"""The ops of a function as linked lists, while ops are inserted and removed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...bindings.irtypes import Block, Op
from ...ir.op_address import op_address
from ...ir.walk import walk


class Entry:
    """An op in its block, or the end of a block.

    Attributes:
        op: the op; None at the end of a block.
        block: the block.
        steps: the steps of the op in the step program.
        segment: the segment of ops that are inserted before it (`graph.Segment`).
        previous, next: its neighbors, in a circle: the end of a block is also before its first op.
    """

    __slots__ = ("block", "next", "op", "previous", "segment", "steps")

    def __init__(self, op: Op | None, block: Block | None) -> None:
        self.op: Any = op
        self.block: Any = block
        self.steps: list[Any] = []
        self.segment: Any = None
        self.previous = self.next = self


class FunctionOps:
    """The ops of a function in the order of their blocks.

    The bindings do not return the neighbors of an op, and list all ops of a block for each question.

    Args:
        function: the function.
    """

    def __init__(self, function: Op) -> None:
        self._entries: dict[int, Entry] = {}
        self._ends: dict[Block, Entry] = {}
        self._add_regions(function)

    def _add_regions(self, op: Op) -> None:
        for region in op.regions:
            for block in region.blocks:
                end = self._ends[block] = Entry(None, block)
                for inner in block.operations:
                    _link(self._new(inner.operation, block), end)

    def _new(self, op: Op, block: Block) -> Entry:
        entry = self._entries[op_address(op)] = Entry(op, block)
        self._add_regions(op)
        return entry

    def __contains__(self, op: Op) -> bool:
        return op_address(op) in self._entries

    def entry(self, op: Op) -> Entry:
        """Return the entry of an op."""
        return self._entries[op_address(op)]

    def end(self, block: Block) -> Entry:
        """Return the end of a block."""
        return self._ends[block]

    def ops_in(self, block: Block) -> list[Op]:
        """Return the ops of a block."""
        end = self._ends[block]
        return [*following(end)]

    def after(self, op: Op) -> Op | None:
        """Return the op that follows an op; None if it is the last one of its block."""
        return self.entry(op).next.op

    def insert(self, op: Op, before: Entry) -> Entry:
        """Add an op that was inserted before an entry; return its entry. A removed op gets its former
        one."""
        entry = self._entries.get(op_address(op)) or self._new(op.operation, before.block)
        entry.block, entry.segment = before.block, before.segment
        _link(entry, before)
        return entry

    def remove(self, op: Op) -> Entry:
        """Remove an op that was taken out of its block; return its entry."""
        entry = self.entry(op)
        entry.previous.next, entry.next.previous = entry.next, entry.previous
        return entry

    def forget(self, op: Op) -> None:
        """Forget a removed op that is erased, and the ops in it: new ops may have their addresses."""
        for inner in walk(op):
            del self._entries[op_address(inner)]


def preceding(entry: Entry) -> Iterator[Op]:
    """Yield the ops before an entry in its block, the nearest first."""
    neighbor = entry.previous
    while neighbor.op is not None:
        yield neighbor.op
        neighbor = neighbor.previous


def following(entry: Entry) -> Iterator[Op]:
    """Yield the ops after an entry in its block, the nearest first; from the end of the block, all
    ops."""
    neighbor = entry.next
    while neighbor.op is not None:
        yield neighbor.op
        neighbor = neighbor.next


def _link(entry: Entry, before: Entry) -> None:
    entry.previous, entry.next = before.previous, before
    before.previous.next = entry
    before.previous = entry
