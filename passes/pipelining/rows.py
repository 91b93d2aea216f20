"""Fragments whose rows several warpgroups divide."""

from __future__ import annotations

from typing import Any

from ...bindings.irtypes import Block, Op, Type, Value
from ...bindings.mlir import ir, memref
from ...dialect.memrefs import strides_of
from ...dialect.op import SmemOp
from ...dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    ElectOp,
    LoadOp,
    MapOp,
    MmaOp,
    OrderArriveOp,
    OrderWaitOp,
    ReduceOp,
    StoreOp,
    TmaCommitOp,
    TmaWaitOp,
)
from ...dialect.ops.subtile import subtile
from ...dialect.ops.subview import SubviewOp
from ...dialect.ops.tma import BulkCopyOp
from ...dialect.slices import slice_dim
from ...dialect.types import FragmentType, TileType, shape_of, tensor_of
from ...ir import emit
from ...ir.errors import OpError
from ...ir.walk import walk
from ...ir.windows import window_of

#: Rows of an instruction's fragments: each warpgroup has a multiple of them.
ROWS = 64

#: Ops without fragments.
_OTHERS = (
    *(ConsumerReleaseOp, ConsumerWaitOp, ElectOp, SubviewOp),
    *(OrderArriveOp, OrderWaitOp, TmaCommitOp, TmaWaitOp),
)


def rows_of(type_: Type) -> int | None:
    """Return how many rows a fragment has; None for other types, and for slices of columns."""
    if not isinstance(type_, FragmentType) or slice_dim(type_) == 0:
        return None
    return shape_of(type_)[0]


def divide_rows(block: Block, warpgroups: int, warpgroup: Value) -> None:
    """Give each warpgroup of a partition its share of the rows of all fragments.

    Args:
        block: of the partition.
        warpgroups: those of the partition.
        warpgroup: the index of the one that executes it.

    Raises:
        OpError: at an op whose rows depend on each other.
    """
    _Division(block, warpgroups, warpgroup).run()


class _Division:
    """The division of a partition's fragments.

    Args:
        block: of the partition.
        warpgroups: those of the partition.
        warpgroup: the index of the one that executes it.
    """

    def __init__(self, block: Block, warpgroups: int, warpgroup: Value) -> None:
        self._block, self._warpgroups, self._warpgroup = block, warpgroups, warpgroup
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
        """Let an op access the rows of the warpgroup.

        Raises:
            OpError: if its rows depend on each other.
        """
        if not isinstance(op, SmemOp) or op.is_by_rows or isinstance(op, _OTHERS):
            return
        if isinstance(op, MmaOp):
            if isinstance(op.a.type, TileType):
                op.operation.operands[0] = self._part_of_tile(op, op.a)
        elif isinstance(op, BulkCopyOp):
            self._change_bulk_store(op)
        elif isinstance(op, LoadOp | StoreOp):
            self._change_access(op)
        elif isinstance(op, MapOp):
            self._change_positions(op)
        elif not isinstance(op, ReduceOp) or slice_dim(op.result.type) != 1:
            raise OpError(
                op, "is not divided by rows; write the kernel for one warpgroup of consumers"
            )

    def _change_access(self, op: Any) -> None:
        fragment = op.result if isinstance(op, LoadOp) else op.fragment
        if rows_of(fragment.type) is None:
            return
        accessed = op.source if isinstance(op, LoadOp) else op.target
        is_slice = slice_dim(fragment.type) is not None
        if isinstance(accessed.type, TileType):
            part = self._part_of_tile(op, accessed)
        else:
            part = self._part_of_window(op, accessed, is_slice)
        position = list(op.operands).index(accessed)
        op.operation.operands[position] = part

    def _change_bulk_store(self, op: BulkCopyOp) -> None:
        rows, _ = shape_of(op.tile.type)
        row = len(op.operands) - 2
        tile = self._part_of_tile(op, op.tile)
        with ir.InsertionPoint(op), op.location:
            first = emit.binary("addi", op.operands[row], self._first(self._share(op, rows)))
        op.operation.operands[0] = tile
        op.operation.operands[row] = first

    def _change_positions(self, op: MapOp) -> None:
        """Count rows in the region from the first one of all warpgroups."""
        arguments = list(op.regions[0].blocks[0].arguments)[len(op.inputs) :]
        rows = rows_of(op.result.type)
        if not arguments or rows is None:
            return
        row = arguments[0]
        with ir.InsertionPoint.at_block_begin(op.regions[0].blocks[0]), op.location:
            moved = emit.binary("addi", row, self._first(self._share(op, rows)))
        row.replace_all_uses_except(moved, moved.owner.operation)

    def _part_of_tile(self, op: Op, tile: Value) -> Value:
        rows, columns = shape_of(tile.type)
        share = self._share(op, rows)
        with ir.InsertionPoint(op), op.location:
            return subtile(tile, (self._first(share), 0), (share, columns))

    def _part_of_window(self, op: Op, window: Value, is_slice: bool) -> Value:
        """Return the rows of a window of an array."""
        found = window_of(window)
        whole = found is None and isinstance(window.owner, ir.Block)
        if (found is None and not whole) or (found is not None and found.transpose is not None):
            raise OpError(op, "accesses no window of an argument; its rows are not divided")
        rank = window.type.rank
        array = window if found is None else found.array
        starts = [0] * rank if found is None else list(found.starts)
        sizes = list(window.type.shape) if found is None else list(found.sizes)
        kept = tuple(range(rank)) if found is None else found.kept
        rows = sizes[kept[0]] if kept else None
        if len(kept) != (1 if is_slice else 2) or not isinstance(rows, int):
            raise OpError(op, "accesses a window whose rows are not divided")
        share = self._share(op, rows)
        with ir.InsertionPoint(op), op.location:
            first, start = self._first(share), starts[kept[0]]
            if start != 0:
                index = emit.constant(start, first.type) if isinstance(start, int) else start
                first = emit.binary("addi", index, first)
            starts[kept[0]], sizes[kept[0]] = first, share
            strides, _ = strides_of(window.type)
            dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
            layout = ir.StridedLayoutAttr.get(dynamic, list(strides))
            shape = [share, *window.type.shape[1:]]
            type_ = ir.MemRefType.get(
                shape, window.type.element_type, layout, window.type.memory_space
            )
            return memref.subview(array, starts, sizes, [1] * len(sizes), result_type=type_)

    def _share(self, op: Op, rows: int) -> int:
        """Return the rows of a warpgroup.

        Raises:
            OpError: if they are no whole instructions.
        """
        if rows % (ROWS * self._warpgroups):
            raise OpError(
                op,
                f"has {rows} rows, which {self._warpgroups} warpgroups of consumers do not divide; "
                f"expected a multiple of {ROWS * self._warpgroups}",
            )
        return rows // self._warpgroups

    def _first(self, share: int) -> Value:
        """Return the first row of the warpgroup, of shares of so many rows."""
        if share not in self._firsts:
            with ir.InsertionPoint.at_block_begin(self._block), self._block.owner.location:
                self._firsts[share] = emit.binary("muli", self._warpgroup, share)
        return self._firsts[share]

    def _divide(self, value: Value, op: Op) -> None:
        """Give a fragment the rows of a warpgroup."""
        rows = rows_of(value.type)
        if rows is not None:
            tensor, state = tensor_of(value.type), value.type.params[1]
            shape = [self._share(op, rows), *tensor.shape[1:]]
            type_ = ir.RankedTensorType.get(shape, tensor.element_type)
            value.set_type(FragmentType.get(type_, state))
