"""Slices in registers: an LLVM struct of a thread's elements."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ir
from ...dialect.slices import check_slice_type
from ...dialect.types import shape_of, tensor_of
from ...ir import emit
from ...ir.i32 import I32
from ...layout.fragment_access import FragmentAccess
from ...layout.fragments import (
    WARPGROUP,
    accumulator_column,
    accumulator_row,
    first_rows,
    rows_of_warp,
)
from ...layout.register_order import SLICE_STEPS
from .registers import extract, struct_of


@dataclass(frozen=True)
class SliceRegisters:
    """The registers of a slice of an accumulator; each element is a member of a struct.

    Attributes:
        element: the MLIR type of the elements.
        dim: the reduced dimension: 1 if the slice has an element for each row.
        extent: the number of elements of the whole slice.
        indices: the row or column of each element, relative to the thread's first.
        warp_rows: rows between the first rows of consecutive warps.
    """

    element: Type
    dim: int
    extent: int
    indices: tuple[int, ...]
    warp_rows: int

    @cached_property
    def type(self) -> Type:
        """The LLVM type of the slice."""
        members = ", ".join([str(self.element)] * len(self.indices))
        return ir.Type.parse(f"!llvm.struct<({members})>", self.element.context)

    def scalars(self, value: Value) -> list[Value]:
        """Return the elements of a thread."""
        return [extract(value, i, self.element) for i in range(len(self.indices))]

    def join(self, elements: Sequence[Value]) -> Value:
        """Return the slice that consists of the elements of a thread."""
        return struct_of(self.type, elements)

    def start(self, thread: Value) -> I32:
        """Return the first row or column of a thread, from its index in the CTA (i32)."""
        starts = FragmentAccess(2, warp_rows=self.warp_rows).start(I32(thread) % WARPGROUP)
        return starts[1 - self.dim]

    def stores(self, thread: Value) -> Value:
        """Return whether a thread is the one that stores its elements (i1), given its index in the CTA.

        Of the threads that hold the same elements it is the first: of a quad, or of the warpgroup.
        """
        sharing = 4 if self.dim == 1 else WARPGROUP
        lane = I32(thread) % sharing
        return emit.compare("ult", lane.value, 1 if self.dim == 1 else 4)


def slice_registers(slice_: Type, rows: int) -> SliceRegisters:
    """Return the registers of a slice.

    Args:
        slice_: its type.
        rows: rows of the instructions that compute the accumulator.

    Raises:
        Invalid: if no registers can hold it.
    """
    dim, extent = check_slice_type(slice_), shape_of(slice_)[0]
    if dim == 1:
        # A thread holds two rows of each block of 64, in its registers 0 and 2.
        indices = [row + accumulator_row(i) for row in first_rows(extent, rows) for i in (0, 2)]
    else:
        # A thread holds two columns of each 8, in its registers 0 and 1 of 4.
        indices = [
            accumulator_column(4 * i + j) for i in range(extent // SLICE_STEPS[0]) for j in (0, 1)
        ]
    element = tensor_of(slice_).element_type
    return SliceRegisters(element, dim, extent, tuple(indices), rows_of_warp(rows))
