"""Tiles in shared memory, their stages and their subtiles."""

from __future__ import annotations

from typing import Any

from ...dialect import ops as smem
from ...dialect.types import tensor_of
from ..dtypes import DType, dtype_of, i4, i8, of_mlir, u4, u8
from ..errors import TraceError
from ..trace import KernelScope, current, op_builder, with_author_position
from .base import Traced
from .index import Index
from .operators import Unloaded
from .slices import index_ranges


class Tile(Unloaded, Traced):
    """A tile in shared memory, (rows, columns) or (stages, rows, columns).

    `t[i]` of a tile with stages is a stage; `t[r : r + 64, :]` is a subtile, at any start; `t.T` is the
    transpose.

    Attributes:
        shape: (rows, columns) or (stages, rows, columns), in elements.
        dtype: the element type.

    Example:
        >>> print(a[0:64, 0:32].T.type_text)
        a tile 32x64 of bf16
    """

    __slots__ = ("dtype", "shape")

    kind = "a tile"

    def __init__(self, value: Any, scope: KernelScope | None = None) -> None:
        super().__init__(value, scope)
        tensor = tensor_of(value.type)
        self.shape: tuple[int, ...] = tuple(tensor.shape)
        self.dtype: DType = of_mlir(tensor.element_type)

    @property
    def type_text(self) -> str:
        return f"a tile {'x'.join(map(str, self.shape))} of {self.dtype}"

    @property
    @op_builder
    def T(self) -> Tile:  # noqa: N802
        """The same elements with rows and columns exchanged: a view, as in NumPy.

        `sl.mma(q, k.T)` multiplies by the transpose of the tile K, which is loaded and stored once.

        Raises:
            TraceError: if the tile has stages.
        """
        if len(self.shape) == 3:
            raise TraceError(f"{self.type_text} is transposed; take a stage before: t[i].T")
        source = self.value.owner
        if isinstance(source, smem.TransposeOp):
            return Tile(source.tile, self.scope)
        value = smem.transpose(self.value)
        current().pure.append(value.owner)
        return Tile(value)

    def bitcast(self, dtype: DType, interleaved: bool = False) -> PackedView:
        """Return a tile (M, N) of bytes as (M, 2 * N) of 4 bits, which `sl.load` and `sl.store` take.

        Column 2 * n is the lower half of byte n, column 2 * n + 1 the upper half.

        Args:
            dtype: i4 or u4.
            interleaved: whether the columns, which are loaded, are in the order of
                `mlir_smem.layout.pack_nibbles(matrix, interleaved=True)`.

        Raises:
            TraceError: for other element types, or a tile with stages.
        """
        return PackedView(self, dtype, interleaved)

    @op_builder
    def __getitem__(self, index: Any) -> Tile:
        ranges = index_ranges(self.type_text, self.shape, index)
        value = self.value
        if len(self.shape) == 3:
            first, *ranges = ranges
            if not first.dropped:
                raise TraceError(f"stages of {self.type_text} are taken one at a time: t[i]")
            start = first.start
            value = smem.stage(value, start.value if isinstance(start, Index) else start)
            current().pure.append(value.owner)
        if any(dim_range.dropped for dim_range in ranges):
            raise TraceError(
                f"an element of {self.type_text} is taken; expected slices of rows and columns, or "
                "sl.load of the tile"
            )
        sizes = [dim_range.size for dim_range in ranges]
        starts = [r.start.value if isinstance(r.start, Index) else r.start for r in ranges]
        # The start of the whole tile is 0; one that is not constant is for the passes to check.
        if tuple(sizes) != self.shape[-2:] or any(isinstance(r.start, Index) for r in ranges):
            value = smem.subtile(value, starts, sizes)
            current().pure.append(value.owner)
        return Tile(value)


class PackedView(Unloaded):
    """Memory (M, N) of 8-bit integers, seen as (M, 2 * N) of 4 bits: see `Tile.bitcast`.

    Attributes:
        memory: the tile or window of bytes.
        dtype: i4 or u4.
        shape: (M, 2 * N).
        interleaved: whether columns are interleaved.

    Raises:
        TraceError: for other element types, or a tile with stages.
    """

    __slots__ = ("dtype", "interleaved", "memory", "shape")

    def __init__(self, memory: Any, dtype: DType, interleaved: bool = False) -> None:
        self.memory = memory
        self.interleaved = interleaved
        self.dtype = dtype_of(dtype)
        if memory.dtype not in (i8, u8) or self.dtype not in (i4, u4) or len(memory.shape) != 2:
            raise with_author_position(
                TraceError(
                    f"{memory.type_text} is cast to {self.dtype}; expected (rows, columns) of u8 or i8, "
                    "cast to u4 or i4"
                )
            )
        rows, columns = memory.shape
        self.shape = (rows, 2 * columns)

    @property
    def type_text(self) -> str:
        """The type for messages."""
        return f"{self.memory.type_text} as {'x'.join(map(str, self.shape))} of {self.dtype}"
