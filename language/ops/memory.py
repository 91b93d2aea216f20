"""Tiles and copies: shared memory, cp.async, loads and stores of fragments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...bindings.mlir import gpu
from ...dialect import ops as smem
from ...dialect.elements import accumulator_of
from ...dialect.ops.load import LOADED
from ...dialect.ops.store import STORED
from ...dialect.slices import slice_fragment
from ...dialect.types import a_fragment, fragment, metadata
from ...ir.cluster import cluster_barrier as emit_cluster_barrier
from ..dtypes import DType, dtype_of, f16, f32, i8, i16, i32, u8
from ..errors import TraceError
from ..trace import op_builder
from ..values.array import Array, Window
from ..values.base import describe
from ..values.fragment import Fragment, iota, readable, where
from ..values.index import Index, as_index, index_value
from ..values.mapping import ACCUMULATORS, rounding_source
from ..values.operators import Unloaded
from ..values.slices import extents_of
from ..values.tile import PackedView, Tile
from .maths import maximum, minimum

Memory = Tile | Window | Array


@op_builder
def alloc(shape: Sequence[int], dtype: DType, layout: Any = None) -> Tile:
    """Allocate a tile in shared memory, and return it; the passes choose its layout.

    Args:
        shape: (rows, columns), or (stages, rows, columns), in elements.
        dtype: the element type.
        layout: an MLIR layout attribute, to choose it by hand.

    Example:
        >>> print(sl.alloc((4, 128, 64), sl.bf16).type_text)
        a tile 4x128x64 of bf16
    """
    return Tile(smem.alloc(extents_of(shape), dtype_of(dtype).type, layout))


def memory_value(memory: Any) -> Any:
    """Return the MLIR value of a window, an array or a tile.

    Raises:
        TraceError: for something else.
    """
    if isinstance(memory, Tile | Array | Window):
        return memory.value
    raise TraceError(
        f"expected a tile, or a window of an array such as A[0:64, 0:64], not {describe(memory)}"
    )


def tile_value(tile: Any) -> Any:
    """Return the MLIR value of a tile.

    Raises:
        TraceError: for something else, or a tile with stages.
    """
    if not isinstance(tile, Tile):
        how = "; sl.copy fills one" if isinstance(tile, Unloaded) else ""
        how = "; sl.store fills one" if isinstance(tile, Fragment) else how
        raise TraceError(f"expected a tile, not {describe(tile)}{how}")
    if len(tile.shape) == 3:
        raise TraceError(f"{tile.type_text} has {tile.shape[0]} stages; take one, t[i]")
    return tile.value


@op_builder
def copy(
    source: Memory, tile: Tile, permutation: Sequence[int] | None = None, relayout: bool = False
) -> None:
    """Copy a window or a tile to a tile, by all threads.

    Args:
        source: of the tile's shape.
        tile: the destination.
        permutation: (1, 0) to exchange rows and columns.
        relayout: whether the contiguous dimension may change.

    Example:
        >>> sl.copy(A[0:64, 0:64], a)
    """
    check_shapes(source, tile, permutation)
    smem.copy(memory_value(source), tile_value(tile), permutation, relayout)


@op_builder
def copy_async(
    source: Window | Array, tile: Tile, permutation: Sequence[int] | None = None
) -> None:
    """Start a copy of a window to a tile (cp.async), by all threads.

    Args:
        source: of the tile's shape.
        tile: the destination.
        permutation: (1, 0) to exchange rows and columns.

    Example:
        >>> sl.copy_async(A[0:64, 0:64], a)
        >>> sl.copy_commit()
        >>> sl.copy_wait()
    """
    check_shapes(source, tile, permutation)
    smem.copy_async(memory_value(source), tile_value(tile), permutation)


def check_shapes(source: Any, tile: Any, permutation: Sequence[int] | None = None) -> None:
    """Check that a window has the shape of a tile; packed elements are left to the dialect.

    Raises:
        TraceError: if it has not.
    """
    if not isinstance(source, Window | Tile) or not isinstance(tile, Tile):
        return
    expected = tile.shape if permutation is None else tuple(tile.shape[d] for d in permutation)
    same = source.dtype.bits == tile.dtype.bits
    # Blocks of scale factors have five dimensions; a tile with stages has a message of its own.
    if len(source.shape) != 5 and len(expected) == 2 and source.shape != expected and same:
        raise TraceError(
            f"{source.type_text} is copied to {tile.type_text}; expected a window "
            f"{'x'.join(map(str, expected))}"
        )


@op_builder
def load(
    source: Memory | PackedView,
    dtype: DType | None = None,
    *,
    a: bool = False,
    axis: int | None = None,
    rank: Index | int | None = None,
    rows: Index | int | None = None,
    columns: Index | int | None = None,
    other: Any = None,
) -> Fragment:
    """Return a window or a tile in registers: an accumulator, a slice, or an A of `sl.mma`.

    Args:
        source: (M, N), or (M,) for a slice of rows or (N,) for one of columns. `w.bitcast(sl.u4)` of a
            tile or a window of 8-bit elements has two elements a byte, the even column in the lower half.
        dtype: of the fragment; by default that of the elements, f32 for bf16 and floats of 8 bits.
        a: whether to load an A, from a tile, with its element type.
        axis: for a slice, the dimension that it lacks: 1 for rows, 0 for columns.
        rank: the CTA of the cluster whose tile is loaded to an accumulator; by default the CTA's own.
        rows, columns: how many of a window's rows and columns, or rows of a slice's elements, there are;
            by default, with `other`, those that the array has. They may be more than the window has.
        other: the elements behind them, which are not read: a number; by default 0.

    Raises:
        TraceError: for an extent that is known at run time only, a rank for anything but an accumulator
            of a tile, or `rows`, `columns` or `other` for anything but a window.

    Example:
        >>> print(sl.load(C[0:64, 0:64]).type_text)
        a fragment 64x64 of f32
        >>> print(sl.load(a, a=True).type_text)
        an A fragment 64x64 of bf16
        >>> x = sl.load(C[0:64, 0:64], rows=sl.block_id(0), other=float("-inf"))
    """
    if isinstance(source, PackedView):
        if a or not (axis is rank is rows is columns is other is None):
            raise TraceError(
                f"{source.type_text} is loaded with more than a dtype; expected sl.load(view) or "
                "sl.load(view, dtype)"
            )
        return _load_packed(source, dtype)
    if not isinstance(source, Tile | Window | Array):
        memory_value(source)
    shape, element = static_shape(source), source.dtype
    if rank is not None and (a or not isinstance(source, Tile)):
        text = "an A" if a else source.type_text
        raise TraceError(f"{text} is loaded with a rank; expected an accumulator of a tile")
    is_bounded = not (rows is columns is other is None)
    if a:
        if is_bounded:
            raise TraceError(
                "an A is loaded with bounds; expected a tile, which sl.copy has filled"
            )
        return Fragment(smem.load(memory_value(source), a_fragment(shape, element.type)))
    counts = _counts_to_load(source, rows, columns, other) if is_bounded else {}
    wanted, loaded_dtype = _loaded_dtypes(element, dtype)
    if len(shape) == 1:
        type_ = slice_fragment(shape[0], loaded_dtype.type, _slice_axis(source, axis))
    else:
        type_ = fragment(shape, loaded_dtype.type)
    cta = None if rank is None else index_value(rank)
    loaded = Fragment(smem.load(_bounded_value(source, counts), type_, cta)).to(wanted)
    if other is None or other == 0:
        return loaded
    for dim, count in counts.items():
        position = dim if axis is None else 1 - axis
        loaded = where(iota(position) < count, loaded, other)
    return loaded


def _counts_to_load(
    source: Memory, rows: Index | int | None, columns: Index | int | None, other: Any
) -> dict[int, Any]:
    """Return how many elements a window has, by its dimension: with `other`, those that the array has."""
    counts = _counts("sl.load", source, len(source.shape), rows, columns)
    assert isinstance(source, Window)
    return counts if other is None else source.extents_in_array() | counts


def _loaded_dtypes(element: DType, dtype: DType | None) -> tuple[DType, DType]:
    """Return the type of the fragment, and the one that a load gives: an expression converts it, if the
    load cannot."""
    wanted = _accumulator_dtype(element) if dtype is None else dtype_of(dtype)
    if element not in ACCUMULATORS or wanted not in ACCUMULATORS:
        return wanted, wanted
    is_loaded = element.mlir in LOADED[accumulator_of(wanted.type).name]
    return wanted, wanted if is_loaded else element


def _load_packed(source: PackedView, dtype: DType | None) -> Fragment:
    """Return elements of 4 bits, of bytes in memory."""
    type_ = fragment(source.shape, source.dtype.type)
    loaded = Fragment(smem.load(source.memory.value, type_, interleaved=source.interleaved))
    return loaded if dtype is None else loaded.to(dtype)


def static_shape(source: Memory) -> tuple[int, ...]:
    """Return the shape of a tile, a window or an array.

    Raises:
        TraceError: if an extent is known at run time only.
    """
    shape = tuple(extent for extent in source.shape if isinstance(extent, int))
    if len(shape) < len(source.shape):
        raise TraceError(f"{source.type_text} is taken whole; take a window of a static shape")
    return shape


def _slice_axis(source: Any, axis: int | None) -> int:
    if axis in (0, 1):
        return axis
    raise TraceError(
        f"{source.type_text} is loaded to a slice; expected axis=1 for rows, or axis=0 for columns"
    )


def _accumulator_dtype(element: DType) -> DType:
    """Return the element type of an accumulator of elements of a type."""
    return element if element in (i32, f16, i16, i8, u8) else f32


@op_builder
def load_metadata(source: Memory, shape: tuple[int, int], dtype: DType) -> Fragment:
    """Return the metadata of a sparse A for `sl.mma_sp`, a fragment.

    Args:
        source: i32 (M / 64, words, 128), as `mlir_smem.layout.compress` returns it.
        shape: (M, K) of A, before it was compressed.
        dtype: A's element type.

    Example:
        >>> print(sl.load_metadata(W, (64, 64), sl.bf16).type_text)
        a fragment 64x64 of bf16
    """
    return Fragment(smem.load(memory_value(source), metadata(shape, dtype.type)))


@op_builder
def store(
    value: Fragment,
    target: Memory | PackedView,
    rows: Index | int | None = None,
    columns: Index | int | None = None,
) -> None:
    """Store an accumulator or a slice to a window or a tile of its shape, converted to its elements.

    A window may have the rows, or a slice's elements, in two dimensions: those of one matrix after those
    of another.

    Args:
        value: a fragment, or an expression; floats are rounded to nearest even.
        target: the window or tile.
        rows: how many of the window's rows, or of a slice's elements, there are, of each matrix if there
            are several; those behind are not stored. It may be more than the window has, or below 0.
        columns: the same of its columns.

    Raises:
        TraceError: if shapes differ, the accumulator is in flight, or `rows` or `columns` of a tile are
            given.

    Example:
        >>> sl.store(acc * 2.0, C[0:64, 0:64])
        >>> sl.store(acc * 2.0, C[0:64, 0:64], rows=sl.block_id(0), columns=sl.block_id(1))
        >>> sl.store(acc, H[0:2, 0:32, :])  # heads of 32 queries
    """
    source = readable(value)
    if (
        isinstance(target, Tile | Window | PackedView)
        and source.shape is not None
        and source.shape not in (target.shape, _flat_shape(target))
    ):
        raise TraceError(
            f"{source.type_text} is stored to {target.type_text}; expected a window or tile "
            f"{'x'.join(map(str, source.shape))}"
        )
    memory: Any = target
    if isinstance(target, PackedView):
        if target.interleaved:
            raise TraceError(f"{target.type_text} is interleaved; only sl.load takes it")
        if columns is not None:
            raise TraceError(f"{target.type_text} is stored with columns; expected rows alone")
        memory = target.memory
    counts: dict[int, Any] = {}
    if not (rows is columns is None):
        rank = len(source.shape or target.shape)
        counts = _counts("sl.store", memory, rank, rows, columns)
    smem.store(_value_to_store(source, target), _bounded_value(memory, counts))


def _flat_shape(target: Tile | Window | PackedView) -> tuple[int, ...]:
    """Return a window's shape with the rows of its matrices, or the elements of a matrix, in one
    dimension."""
    if not isinstance(target, Window) or len(target.shape) < 2:
        return target.shape
    matrices, rows, *columns = target.shape
    return (matrices * rows, *columns)


def _counts(
    name: str, window: Any, rank: int, rows: Index | int | None, columns: Index | int | None
) -> dict[int, Any]:
    """Return the given numbers of rows and columns by the dimension of a window that has them.

    Args:
        name: of the function, for messages.
        window: the window.
        rank: the dimensions of the fragment; if the window has one more, it is of several matrices.
        rows, columns: the numbers.

    Raises:
        TraceError: for something else than a window, or columns of a slice.
    """
    if not isinstance(window, Window):
        arguments = [n for n, x in (("rows", rows), ("columns", columns)) if x is not None]
        text = " and ".join(arguments) or "other"
        raise TraceError(f"{name} with {text} takes a window of an array, not {describe(window)}")
    first = len(window.shape) - rank
    if columns is not None and rank == 1:
        raise TraceError(
            f"{name} of a slice has columns; expected rows, the number of its elements"
        )
    counts = {first: rows, first + 1: columns}
    return {dim: count for dim, count in counts.items() if count is not None}


def _bounded_value(memory: Any, counts: dict[int, Any]) -> Any:
    """Return the MLIR value of a tile, an array or a window, or of the first elements of a window.

    Args:
        memory: it.
        counts: numbers of elements by dimension of a window, more than it has or below 0, too.
    """
    if not counts:
        return memory_value(memory)
    window: Window = memory
    return window.value_of(
        {
            dim: as_index(minimum(maximum(count, 0), window.shape[dim]))
            for dim, count in counts.items()
        }
    )


def _value_to_store(source: Fragment, target: Any) -> Any:
    """Return the value to store: the store itself rounds to the target's type."""
    wanted = getattr(target, "dtype", None)
    unrounded = rounding_source(source.node, STORED)
    if unrounded is not None and source.dtype == wanted:
        return Fragment(node=unrounded).value
    if wanted is None or source.is_a or not {source.dtype, wanted} <= set(ACCUMULATORS):
        return source.value
    is_packed = source.dtype.bits < 8 and not isinstance(target, PackedView)
    stored = wanted.mlir in STORED[accumulator_of(source.dtype.type).name] and not is_packed
    if source.dtype == wanted or stored or not wanted.holds(source.dtype):
        return source.value
    return source.to(wanted).value


@op_builder
def barrier() -> None:
    """Wait for all threads of the CTA.

    Example:
        >>> sl.barrier()
    """
    gpu.barrier()


@op_builder
def cluster_barrier() -> None:
    """Wait for all threads of the cluster, of every CTA.

    In partitions, every partition runs as many of these, outside of branches and loops. What threads
    wrote to tiles before is then visible to those that load it with `rank`.

    Example:
        >>> sl.cluster_barrier()
    """
    emit_cluster_barrier()


@op_builder
def fence() -> None:
    """Order the thread's accesses of shared memory before those of tensor cores and TMA.

    Example:
        >>> sl.fence()
    """
    smem.fence()


@op_builder
def copy_commit() -> None:
    """Close the group of copies that the thread has started.

    Example:
        >>> sl.copy_commit()
    """
    smem.copy_commit()


@op_builder
def copy_wait(pending: int = 0) -> None:
    """Wait for all but the latest `pending` groups of copies.

    Example:
        >>> sl.copy_wait(pending=1)
    """
    smem.copy_wait(pending)


@op_builder
def tma_commit() -> None:
    """Close the group of TMA stores that the thread has started.

    Example:
        >>> sl.tma_commit()
    """
    smem.tma_commit()


@op_builder
def tma_wait(pending: int = 0, read: bool = False) -> None:
    """Wait for all but the latest `pending` groups of TMA stores, or until their tiles are read.

    Example:
        >>> sl.tma_wait(read=True)
    """
    smem.tma_wait(pending, read)


@op_builder
def warpgroup_barrier(warpgroups: int = 1) -> None:
    """Wait for the threads of the warpgroup, or of several adjacent ones.

    Args:
        warpgroups: how many warpgroups wait for each other, such as all those of a partition.

    Example:
        >>> sl.warpgroup_barrier()
    """
    smem.warpgroup_barrier(warpgroups)
