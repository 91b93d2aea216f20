"""The memory of tiles: which allocations may have bytes in common, and which other ops access them."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.memrefs import is_workgroup
from ...dialect.ops import SubviewOp, TransposeOp, ViewOp
from ...dialect.types import layout_of, shape_of
from ...ir.subtiles import chain_of, is_transposed
from ...ir.view_memory import memref_bytes
from ...ir.walk import walk
from ...layout import Multiple
from .effects import ALIASES, accessed_memrefs, base_of, defining_op, enclosing_window, is_known
from .rectangles import Allocation, Start, SymbolicRectangle

#: Ops that allocate a memref without aliases.
_ALLOCATIONS = ("memref.alloc", "memref.alloca")

#: Ops that return named memory.
_NAMED = ("gpu.dynamic_shared_memory", "memref.get_global")

#: The key of the memory of all arguments.
_ARGUMENTS = "arguments"

_Start = TypeVar("_Start")

#: Ops whose result is an alias of a memref, at a known offset.
_VIEWS = ("memref.view", "memref.cast")


class Allocations:
    """The allocations of a function's tiles.

    Args:
        function: the function.
        number: gives the number of an integer value; see `rectangles.Start`.
    """

    def __init__(self, function: Op, number: Callable[[Value], int]) -> None:
        self._function = function
        self._number = number
        self._tiles: dict[Value, SymbolicRectangle | None] = {}
        self._allocations: dict[Op, Allocation | None] = {}
        self._viewed = {self._memory(base_of(view.memref))[0] for view in walk(function, ViewOp)}
        #: The memrefs of each memory that may have several: results of ops that name it, or arguments.
        self._bases = self._all_bases() if self._viewed else {}
        #: Views of whose memory not everything is known, with the reason.
        self.unknown: dict[Op, str] = {}

    def rectangle(self, tile: Value, user: Op) -> SymbolicRectangle | None:
        """Return the rectangle of a tile; None if its memory is not known.

        Raises:
            OpError: if it does not come from an alloc or view.
        """
        if tile not in self._tiles:
            self._tiles[tile] = self._rectangle(tile, *chain_of(tile, user))
        return self._tiles[tile]

    def memref_accesses(
        self, op: Op
    ) -> tuple[tuple[SymbolicRectangle, ...], tuple[SymbolicRectangle, ...]]:
        """Return the reads and the writes by an op of another dialect of memory that tiles view."""
        if not self._viewed:
            return (), ()
        reads, writes = accessed_memrefs(op)
        return self._viewed_memory(op, reads), self._viewed_memory(op, writes)

    def _viewed_memory(self, op: Op, memrefs: tuple[Value, ...]) -> tuple[SymbolicRectangle, ...]:
        """Return the memory of those memrefs that tiles also view. Which of its bytes are accessed is not
        known."""
        start: Start = (0, ())
        rectangles = []
        for memref in memrefs:
            memory = self._memory(base_of(memref))[0]
            if memory is not None and memory in self._viewed:
                # Where one argument begins in another is not known.
                span = None if memory == _ARGUMENTS else _span(memref)
                whole = Allocation(op, memory, span, 1, 1, 1, of_memref=True)
                rectangles.append(SymbolicRectangle(whole, start, start, start, 1, 1))
        return tuple(rectangles)

    def _rectangle(self, tile: Value, op: Op, chain: list[SubviewOp]) -> SymbolicRectangle | None:
        allocation = self._allocation(op)
        if allocation is None:
            return None
        starts: list[Start] = [(0, ()), (0, ()), (0, ())]
        for dim, start in starts_of(chain, self._start, lambda n: (n, ())):
            starts[dim] = _sum(starts[dim], start)
        height, width = extents_of(tile, chain)
        stage, row, column = starts
        return SymbolicRectangle(allocation, stage, row, column, height, width)

    def _start(self, value: Value) -> Start:
        constant = constant_of(value)
        return (0, (self._number(value),)) if constant is None else (constant, ())

    def _allocation(self, op: Op) -> Allocation | None:
        if op not in self._allocations:
            self._allocations[op] = self._new_allocation(op)
        return self._allocations[op]

    def _new_allocation(self, op: Op) -> Allocation | None:
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
            self.unknown[op] = f"'{user.operation.name}' at {where} also uses its memory"
            outside = True
        layout = layout_of(op.tile.type)
        # Every layout that can be chosen is within the bytes of the memref.
        size = layout.size_bytes if layout else op.memref_bytes
        if size is None:
            self.unknown[op] = "it has no layout yet, so its size is not known"
            return None
        # Where one argument begins in another is not known.
        alone = memory != _ARGUMENTS or len(self._bases[memory]) == 1
        span = (shift, shift + size) if alone else None
        return Allocation(op, memory, span, stages, rows, columns, outside)

    def _all_bases(self) -> dict[Hashable, list[Value]]:
        """Return the memrefs that may alias others, by the key of their memory."""
        bases: dict[Hashable, list[Value]] = {}
        named = [op.results[0] for op in walk(self._function, *_NAMED)]
        arguments = self._function.regions[0].blocks[0].arguments
        for base in [*named, *filter(_is_workgroup, arguments)]:
            bases.setdefault(self._memory(base)[0], []).append(base)
        return bases

    def _memory(self, source: Value) -> tuple[Hashable, bool]:
        """Return a key of a memref's memory, and whether code outside of the function may have written
        it.

        The key is None for memory that is not known.
        """
        owner = source.owner
        op = defining_op(source)
        if op is None:
            arguments = owner.arguments
            attributes = self._function.attributes
            if owner.owner.operation != self._function or "function_type" not in attributes:
                return None, True
            inputs = len(ir.TypeAttr(attributes["function_type"]).value.inputs)
            declared = any(source == buffer for buffer in list(arguments)[inputs:])
            return (source, False) if declared else (_ARGUMENTS, True)
        if op.name in _ALLOCATIONS:
            return source, False
        if op.name == "gpu.dynamic_shared_memory":
            return "dynamic", True
        if op.name == "memref.get_global":
            return str(op.attributes["name"]), True
        return None, True


def starts_of(
    chain: Sequence[SubviewOp],
    at_run_time: Callable[[Value], _Start],
    static: Callable[[int], _Start],
) -> Iterator[tuple[int, _Start]]:
    """Yield the dimensions and starts of stages and subtiles.

    Args:
        chain: the ops from the allocation on.
        at_run_time: converts a start that is a value.
        static: converts a start that is a number.

    Returns:
        Pairs of the dimension of the allocation (0 for stages, 1 for rows, 2 for columns) and the
        converted start.
    """
    row, column = 1, 2
    for subtile in chain:
        if isinstance(subtile, TransposeOp):
            row, column = column, row
        starts, values = subtile.starts, iter(subtile.run_time_starts)
        for dim, start in zip((0,) if len(starts) == 1 else (row, column), starts, strict=False):
            yield dim, at_run_time(next(values)) if isinstance(start, Multiple) else static(start)


def extents_of(tile: Value, chain: Sequence[SubviewOp]) -> tuple[int, int]:
    """Return how many rows and columns of its allocation a tile at the end of a chain has."""
    rows, columns = shape_of(tile.type)[-2:]
    return (columns, rows) if is_transposed(chain) else (rows, columns)


def _source(memref: Value) -> tuple[Value, int | None]:
    """Return the memref that another one is an alias of, and the offset in bytes; None if not known."""
    offset: int | None = 0
    while not isinstance(memref.owner, ir.Block) and memref.owner.operation.name in _VIEWS:
        op = memref.owner.operation
        if op.name == "memref.view":
            shift = constant_of(op.operands[1])
            offset = None if offset is None or shift is None else offset + shift
        memref = op.operands[0]
    return memref, offset


def _span(memref: Value) -> tuple[int, int] | None:
    """Return the first byte and the end of a memref in the memory of its base; None if not known."""
    outer = enclosing_window(memref)
    base, shift = _source(outer)
    type_ = outer.type
    if shift is None or base != base_of(memref):
        return None
    if not type_.has_static_shape or type_.affine_map != ir.AffineMap.get_identity(type_.rank):
        return None
    try:
        return shift, shift + memref_bytes(type_)
    except Invalid:
        return None


def _unknown_user(memref: Value) -> Op | None:
    """Return an op with unknown effects on a memref; None if there is none."""
    for use in memref.uses:
        op = use.owner.operation
        if op.name in ALIASES:
            user = _unknown_user(op.results[0])
            if user is not None:
                return user
        elif not isinstance(use.owner, ViewOp) and not is_known(op):
            return op
    return None


def _is_workgroup(value: Value) -> bool:
    return isinstance(value.type, ir.MemRefType) and is_workgroup(value.type)


def _sum(a: Start, b: Start) -> Start:
    return a[0] + b[0], a[1] + b[1]
