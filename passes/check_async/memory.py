"""The memory behind tiles: which roots may have bytes in common, and what else accesses them."""

from collections.abc import Callable, Iterator
from typing import Any

from ...dialect.bindings import ir
from ...dialect.diagnostics import format_location
from ...dialect.divisibility import constant_of
from ...dialect.memrefs import is_workgroup
from ...dialect.ops import SubviewOp, ViewOp
from ...dialect.types import layout_of, shape_of
from ...ir.subtiles import chain_of
from ...ir.walk import walk
from ...layout import Multiple
from .memrefs import ALIASES, Accessed, accessed_memrefs, base_of, defining_op, is_known
from .regions import Allocation, Place, Start

#: Ops that make a memref whose bytes no other memref has.
_ALLOCATIONS = ("memref.alloc", "memref.alloca")

#: Ops that give the memory of a symbol.
_NAMED = ("gpu.dynamic_shared_memory", "memref.get_global")

#: Ops of which it is known where in the memory of a memref another one begins.
_VIEWS = ("memref.view", "memref.cast")


class Allocations:
    """The roots of a function's tiles, found as their parts are used."""

    def __init__(self, function: Any, number: Callable[[Any], int]) -> None:
        self._function = function
        self._number = number
        self._places: dict[Any, Place | None] = {}
        self._allocations: dict[Any, Allocation | None] = {}
        self._shown = {self._memory(base_of(view.memref))[0] for view in walk(function, ViewOp)}
        #: The memrefs of one memory: ops that name it, and arguments, of which any two may be the same.
        self._bases = self._all_bases() if self._shown else {}
        #: Views of whose memory not everything is known, with the reason.
        self.unknown: dict[Any, str] = {}

    def place(self, tile: Any, user: Any) -> Place | None:
        """The place that a tile is; None if its memory is not known.

        Raises:
            OpError: if it comes from no alloc or view.
        """
        if tile not in self._places:
            self._places[tile] = self._place(tile, *chain_of(tile, user))
        return self._places[tile]

    def of_memrefs(self, op: Any) -> Accessed | None:
        """The places that an op of another dialect reads, and those that it writes, of memory that tiles
        show; None if there are none."""
        if not self._shown:
            return None
        reads, writes = accessed_memrefs(op)
        found = Accessed(self._shared(op, reads), self._shared(op, writes))
        return found if any(found) else None

    def _shared(self, op: Any, memrefs: tuple[Any, ...]) -> tuple[Place, ...]:
        """The memory behind memrefs that tiles show, too; which bytes of it are accessed is not known."""
        found = (self._memory(base_of(memref))[0] for memref in memrefs)
        shown = [memory for memory in found if memory is not None and memory in self._shown]
        start: Start = (0, ())
        return tuple(
            Place(Allocation(op, memory, None, 1, 1, 1, of_memref=True), start, start, start, 1, 1)
            for memory in shown
        )

    def _place(self, tile: Any, op: Any, chain: list[Any]) -> Place | None:
        allocation = self._allocation(op)
        if allocation is None:
            return None
        starts: list[Start] = [(0, ()), (0, ()), (0, ())]
        for subtile in chain:
            for dim, start in starts_of(subtile, self._start, lambda n: (n, ())):
                starts[dim] = _sum(starts[dim], start)
        height, width = shape_of(tile.type)[-2:]
        stage, row, column = starts
        return Place(allocation, stage, row, column, height, width)

    def _start(self, value: Any) -> Start:
        constant = constant_of(value)
        return (0, (self._number(value),)) if constant is None else (constant, ())

    def _allocation(self, op: Any) -> Allocation | None:
        if op not in self._allocations:
            self._allocations[op] = self._made(op)
        return self._allocations[op]

    def _made(self, op: Any) -> Allocation | None:
        stages, rows, columns = (1, *shape_of(op.tile.type))[-3:]
        if not isinstance(op, ViewOp):
            return Allocation(op, op, None, stages, rows, columns)
        source, shift = _source(op.memref)
        memory, outside = self._memory(source)
        if shift is None or memory is None:
            self.unknown[op] = "where its memory begins is not known"
            return None
        users = map(_unknown_user, [source, *self._bases.get(memory, ())])
        user = next((user for user in users if user is not None), None)
        if user is not None:
            where = format_location(user.location)
            self.unknown[op] = f"'{user.operation.name}' at {where} uses its memory, too"
            outside = True
        layout = layout_of(op.tile.type)
        assert layout is not None
        span = (shift, shift + layout.size_bytes)
        return Allocation(op, memory, span, stages, rows, columns, outside)

    def _all_bases(self) -> dict[Any, list[Any]]:
        """Memrefs by what stands for their memory, if not the memref itself does."""
        found: dict[Any, list[Any]] = {}
        named = [op.results[0] for op in walk(self._function, *_NAMED)]
        arguments = self._function.regions[0].blocks[0].arguments
        for base in [*named, *filter(_is_workgroup, arguments)]:
            found.setdefault(self._memory(base)[0], []).append(base)
        return found

    def _memory(self, source: Any) -> tuple[Any, bool]:
        """What stands for the memory of a memref, and whether it has contents that the function did
        not write; None for memory that is not known."""
        owner = source.owner
        op = defining_op(source)
        if op is None:
            arguments = owner.arguments
            attributes = self._function.attributes
            if owner.owner.operation != self._function or "function_type" not in attributes:
                return None, True
            inputs = len(ir.TypeAttr(attributes["function_type"]).value.inputs)
            declared = any(source == buffer for buffer in list(arguments)[inputs:])
            return (source, False) if declared else ("arguments", True)
        if op.name in _ALLOCATIONS:
            return source, False
        if op.name == "gpu.dynamic_shared_memory":
            return "dynamic", True
        if op.name == "memref.get_global":
            return str(op.attributes["name"]), True
        return None, True


def starts_of(
    subtile: SubviewOp, at_run_time: Callable, static: Callable
) -> Iterator[tuple[int, Any]]:
    """Where a part begins, as made of a value or of a number, with the dimension: 0 for stages, 1 for
    rows, 2 for columns."""
    starts, values = subtile.starts, iter(subtile.run_time_starts)
    first = 0 if len(starts) == 1 else 1
    for dim, start in enumerate(starts, first):
        yield dim, at_run_time(next(values)) if isinstance(start, Multiple) else static(start)


def _source(memref: Any) -> tuple[Any, int | None]:
    """The memref that another one shows, and at which byte of it that begins; None if not known."""
    begin: int | None = 0
    while not isinstance(memref.owner, ir.Block) and memref.owner.operation.name in _VIEWS:
        op = memref.owner.operation
        if op.name == "memref.view":
            shift = constant_of(op.operands[1])
            begin = None if begin is None or shift is None else begin + shift
        memref = op.operands[0]
    return memref, begin


def _unknown_user(memref: Any) -> Any:
    """An op that does with a memref what is not known; None if there is none."""
    for use in memref.uses:
        op = use.owner.operation
        if op.name in ALIASES:
            found = _unknown_user(op.results[0])
            if found is not None:
                return found
        elif not isinstance(use.owner, ViewOp) and not is_known(op):
            return op
    return None


def _is_workgroup(value: Any) -> bool:
    return isinstance(value.type, ir.MemRefType) and is_workgroup(value.type)


def _sum(a: Start, b: Start) -> Start:
    return a[0] + b[0], a[1] + b[1]
