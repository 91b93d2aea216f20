"""Fragments that several warpgroups divide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...bindings.irtypes import Block, Op, Type, Value
from ...bindings.mlir import ir, memref
from ...dialect.memrefs import strides_of
from ...dialect.op import SmemOp
from ...dialect.ops import (
    ColumnsOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    LoadOp,
    MapOp,
    MmaOp,
    ReduceOp,
    StoreOp,
)
from ...dialect.ops.subtile import subtile
from ...dialect.ops.subview import SubviewOp
from ...dialect.slices import slice_dim
from ...dialect.types import FragmentType, TileType, shape_of, tensor_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.walk import walk
from ...ir.windows import window_of

#: Rows of an instruction's fragments, and columns of a tile's 128 bytes of bf16: each warpgroup has a
#: multiple of them.
UNIT = 64

#: Ops without fragments.
_OTHERS = (ConsumerReleaseOp, ConsumerWaitOp, SubviewOp)

#: What is divided, by the number of the axis.
_NAMES = ("rows", "columns")


@dataclass(frozen=True)
class Division:
    """How consumers divide fragments.

    Attributes:
        warpgroups: how many there are.
        axis: 0 if they divide the rows, 1 the columns.
    """

    warpgroups: int
    axis: int = 0

    @property
    def name(self) -> str:
        """What is divided, in the plural."""
        return _NAMES[self.axis]

    def extent_of(self, type_: Type) -> int | None:
        """Return how many rows, or columns, a fragment has; None for other types, and for slices along
        the axis."""
        if not isinstance(type_, FragmentType) or slice_dim(type_) == self.axis:
            return None
        shape = shape_of(type_)
        return shape[min(self.axis, len(shape) - 1)]

    def extents_of(self, values: Iterable[Value]) -> set[int]:
        """Return how many rows, or columns, fragments among some values have."""
        return {n for n in (self.extent_of(x.type) for x in values) if n is not None}

    def divides(self, extent: int) -> bool:
        """Whether each warpgroup has whole instructions of so many rows, or columns."""
        return self.warpgroups == 1 or not extent % (UNIT * self.warpgroups)

    def share_of(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return what a warpgroup has of a shape of rows and columns."""
        return tuple(n // self.warpgroups if i == self.axis else n for i, n in enumerate(shape))

    def start_of(self, warpgroup: Value, shape: Sequence[int]) -> tuple[Value | int, Value | int]:
        """Emit the first row and column of a warpgroup's share of a shape."""
        first = emit.binary("muli", warpgroup, self.share_of(shape)[self.axis])
        return (first, 0) if self.axis == 0 else (0, first)


def divide(block: Block, division: Division) -> None:
    """Give each warpgroup of a partition its share of all fragments.

    Args:
        block: of the partition; its argument is the index of the warpgroup that executes it.
        division: who has what.

    Raises:
        OpError: at an op whose rows, or columns, depend on each other.
    """
    _Divided(block, division).run()


class _Divided:
    """The fragments of a partition; arguments as for `divide`."""

    def __init__(self, block: Block, division: Division) -> None:
        self._block, self._division = block, division
        self._axis = division.axis
        self._firsts: dict[int, Value] = {}

    def run(self) -> None:
        """Change the ops, and then the types of fragments."""
        ops = [op for op in walk(self._block.owner) if op != self._block.owner.operation]
        for op in ops:
            self._change(op.opview)
        for op in ops:
            blocks = [block for region in op.regions for block in region.blocks]
            arguments = [argument for block in blocks for argument in block.arguments]
            for value in (*op.results, *arguments):
                self._divide(value, op)

    def _change(self, op: Any) -> None:
        """Let an op access the share of the warpgroup.

        Raises:
            OpError: if its rows, or columns, depend on each other.
        """
        if not isinstance(op, SmemOp) or isinstance(op, _OTHERS):
            return
        if op.is_by_rows and not (self._axis and isinstance(op, ColumnsOp)):
            return
        if isinstance(op, MmaOp) and isinstance((op.a, op.b)[self._axis].type, TileType):
            self._change_product(op)
        elif isinstance(op, LoadOp | StoreOp):
            self._change_access(op)
        elif isinstance(op, MapOp):
            self._change_positions(op)
        elif not self._keeps_axis(op):
            raise OpError(
                op,
                f"is not divided by {self._division.name}; write the kernel for one warpgroup of "
                "consumers",
            )

    def _keeps_axis(self, op: Any) -> bool:
        """Whether an op has a result for each row, or column, that takes nothing of others."""
        if isinstance(op, MmaOp):
            return self._axis == 0
        return isinstance(op, ReduceOp) and slice_dim(op.result.type) == 1 - self._axis

    def _change_product(self, op: MmaOp) -> None:
        """Multiply the warpgroup's rows of A, or columns of B.

        Raises:
            OpError: if A is a fragment, whose columns are divided, too.
        """
        if self._axis and not isinstance(op.a.type, TileType):
            raise OpError(op, "takes A from registers, whose columns would be divided, too")
        op.operation.operands[self._axis] = self._part_of_tile(op, (op.a, op.b)[self._axis])

    def _change_access(self, op: Any) -> None:
        fragment = op.result if isinstance(op, LoadOp) else op.fragment
        if self._division.extent_of(fragment.type) is None:
            return
        accessed = op.source if isinstance(op, LoadOp) else op.target
        if isinstance(accessed.type, TileType):
            part = self._part_of_tile(op, accessed)
        else:
            part = self._part_of_window(op, accessed, slice_dim(fragment.type) is not None)
        position = list(op.operands).index(accessed)
        op.operation.operands[position] = part

    def _change_positions(self, op: MapOp) -> None:
        """Count rows, or columns, in the region from the first one of all warpgroups."""
        arguments = list(op.regions[0].blocks[0].arguments)[len(op.inputs) :]
        extent = self._division.extent_of(op.result.type)
        if not arguments or extent is None:
            return
        position = arguments[min(self._axis, len(arguments) - 1)]
        with ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0]), op.location:
            moved = emit.binary("addi", position, self._first(self._share(op, extent)))
        position.replace_all_uses_except(moved, moved.owner.operation)

    def _part_of_tile(self, op: Op, tile: Value) -> Value:
        starts: list[Value | int] = [0, 0]
        shape = list(shape_of(tile.type))
        shape[self._axis] = self._share(op, shape[self._axis])
        starts[self._axis] = self._first(shape[self._axis])
        with ir.InsertionPoint(op), op.location:
            return subtile(tile, tuple(starts), tuple(shape))

    def _part_of_window(self, op: Op, window: Value, is_slice: bool) -> Value:
        """Return the share of a window of an array."""
        found = window_of(window)
        whole = found is None and isinstance(window.owner, ir.Block)
        name = self._division.name
        if (found is None and not whole) or (found is not None and found.transpose is not None):
            raise OpError(op, f"accesses no window of an argument; its {name} are not divided")
        rank = window.type.rank
        array = window if found is None else found.array
        starts = [0] * rank if found is None else list(found.starts)
        sizes = list(window.type.shape) if found is None else list(found.sizes)
        kept = tuple(range(rank)) if found is None else found.kept
        dim = 0 if is_slice else self._axis
        extent = sizes[kept[dim]] if kept else None
        if len(kept) != (1 if is_slice else 2) or not isinstance(extent, int):
            raise OpError(op, f"accesses a window whose {name} are not divided")
        share = self._share(op, extent)
        with ir.InsertionPoint(op), op.location:
            first, start = self._first(share), starts[kept[dim]]
            if start != 0:
                index = emit.constant(start, first.type) if isinstance(start, int) else start
                first = emit.binary("addi", index, first)
            starts[kept[dim]], sizes[kept[dim]] = first, share
            strides, _ = strides_of(window.type)
            dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
            layout = ir.StridedLayoutAttr.get(dynamic, list(strides))
            shape = list(window.type.shape)
            shape[dim] = share
            type_ = ir.MemRefType.get(
                shape, window.type.element_type, layout, window.type.memory_space
            )
            return memref.subview(array, starts, sizes, [1] * len(sizes), result_type=type_)

    def _share(self, op: Op, extent: int) -> int:
        """Return the rows, or columns, of a warpgroup.

        Raises:
            OpError: if they are no whole instructions.
        """
        warpgroups = self._division.warpgroups
        if not self._division.divides(extent):
            raise OpError(
                op,
                f"has {extent} {self._division.name}, which {warpgroups} warpgroups of consumers do not "
                f"divide; expected a multiple of {UNIT * warpgroups}",
            )
        return extent // warpgroups

    def _first(self, share: int) -> Value:
        """Return the first row, or column, of the warpgroup, of shares of so many."""
        if share not in self._firsts:
            with ir.InsertionPoint.at_block_begin(self._block), self._block.owner.location:
                self._firsts[share] = emit.binary("muli", self._block.arguments[0], share)
        return self._firsts[share]

    def _divide(self, value: Value, op: Op) -> None:
        """Give a fragment the share of a warpgroup."""
        extent = self._division.extent_of(value.type)
        if extent is not None:
            tensor, state = tensor_of(value.type), value.type.params[1]
            shape = list(tensor.shape)
            shape[min(self._axis, len(shape) - 1)] = self._share(op, extent)
            type_ = ir.RankedTensorType.get(shape, tensor.element_type)
            value.set_type(FragmentType.get(type_, state))
