"""The launch of a kernel: its grid, and the multiples of extents."""

from __future__ import annotations

from math import lcm
from typing import Any

from ...bindings.mlir import gpu
from ..errors import TraceError
from ..trace import current, op_builder
from ..values.array import NamedExtent
from ..values.base import describe
from ..values.index import Index, as_index, index_of_op

_DIMENSIONS = ("x", "y", "z")

#: Threads of a warpgroup.
WARPGROUP = 128


@op_builder
def cdiv(extent: Index | int, by: int) -> Any:
    """Return the quotient rounded up: the blocks of `by` elements that cover an extent.

    Args:
        extent: an index or an integer.
        by: a positive integer.

    Raises:
        TraceError: for another divisor.

    Example:
        >>> sl.cdiv(100, 64)
        2
    """
    if not isinstance(by, int) or by < 1:
        raise TraceError(f"sl.cdiv divides by {describe(by)}; expected a positive integer")
    if isinstance(extent, int):
        return -(-extent // by)
    blocks = (as_index(extent) + (by - 1)) // by
    covering = (extent.name, by) if isinstance(extent, NamedExtent) else None
    return Index(blocks.value, blocks.scope, blocks.linear, blocks.unsigned, covering)


@op_builder
def grid(*blocks: Any) -> Any:
    """Declare the grid of the launch, and return the position of the block in it.

    Without it, a call gives the grid.

    Args:
        blocks: for x, y and z, `sl.cdiv(extent, number)` of a named extent, or such an extent itself.

    Returns:
        An index for each; the index itself for one.

    Raises:
        TraceError: for something else, or at a second call.

    Example:
        >>> M, K = A.shape
        >>> block = sl.grid(sl.cdiv(M, 64))
    """
    trace = current()
    if trace.grid is not None:
        raise TraceError("the grid is declared twice; call sl.grid once")
    if not 1 <= len(blocks) <= 3:
        raise TraceError(f"a grid has 1 to 3 dimensions, not {len(blocks)}")
    trace.grid = [_grid_entry(dim, extent) for dim, extent in enumerate(blocks)]
    positions = [block_id(dim) for dim in range(len(blocks))]
    return positions[0] if len(positions) == 1 else tuple(positions)


def _grid_entry(dim: int, extent: Any) -> list[Any]:
    covering = extent.covering if isinstance(extent, Index) else None
    if covering is None:
        raise TraceError(
            f"the grid along {_DIMENSIONS[dim]} is {describe(extent)}; expected sl.cdiv(extent, number) "
            "of an extent in the signature; for another grid, call kernel[grid](...)"
        )
    return list(covering)


@op_builder
def multiple_of(extent: Any, number: Any) -> Any:
    """State that a named extent is a multiple of a number, which a call checks; return the extent.

    Args:
        extent: an extent of an array that the signature names; or an integer, which is checked now; or a
            tuple of them.
        number: a positive integer, or a tuple of one for each extent.

    Raises:
        TraceError: for something else.

    Example:
        >>> M, K = A.shape
        >>> M, K = sl.multiple_of((M, K), (64, 32))
    """
    if isinstance(extent, tuple) and isinstance(number, tuple):
        if len(extent) != len(number):
            raise TraceError(
                f"{len(extent)} extents have {len(number)} multiples; expected one each"
            )
        return tuple(map(multiple_of, extent, number))
    if not isinstance(number, int) or number < 1:
        raise TraceError(f"sl.multiple_of takes a positive integer, not {describe(number)}")
    if isinstance(extent, int):
        if extent % number:
            raise TraceError(f"the extent {extent} is not a multiple of {number}")
        return extent
    if not isinstance(extent, NamedExtent):
        raise TraceError(
            f"sl.multiple_of takes an extent of an array, such as M, K = A.shape; not {describe(extent)}"
        )
    trace = current()
    trace.multiples[extent.name] = lcm(trace.multiples.get(extent.name, 1), number)
    return extent


@op_builder
def block_id(dim: int = 0) -> Index:
    """Return the position of the thread block in the grid; `dim` is 0 (x), 1 (y) or 2 (z).

    Example:
        >>> print(sl.block_id(0).type_text)
        an index
    """
    return index_of_op(gpu.block_id(_dimension(dim)), unsigned=True)


@op_builder
def grid_dim(dim: int = 0) -> Index:
    """Return the number of thread blocks of the grid; `dim` is 0 (x), 1 (y) or 2 (z).

    Example:
        >>> for tile in sl.range(sl.block_id(0), 16, sl.grid_dim(0)):
        ...     sl.store(acc, C[0:64, 0:64])
    """
    return index_of_op(gpu.grid_dim(_dimension(dim)), unsigned=True)


@op_builder
def thread_id() -> Index:
    """Return the index of the thread in its block.

    Example:
        >>> print(sl.thread_id().type_text)
        an index
    """
    return index_of_op(gpu.thread_id(gpu.Dimension.x), unsigned=True)


@op_builder
def warpgroup_id() -> Index:
    """Return the index of the warpgroup in the thread block.

    Example:
        >>> row = sl.warpgroup_id() * 64
    """
    return thread_id() // WARPGROUP


def _dimension(dim: int) -> Any:
    if dim not in range(3):
        raise TraceError(f"a grid has the dimensions 0, 1 and 2 (x, y, z), not {dim!r}")
    return getattr(gpu.Dimension, _DIMENSIONS[dim])


@op_builder
def unsigned(given: Index) -> Index:
    """Return the index `given` as one that is known to be 0 or more, for example a difference.

    Division and comparison of such indices take fewer instructions.

    Example:
        >>> print(sl.unsigned(sl.block_id(0) - 0).unsigned)
        True
    """
    value = as_index(given)
    return Index(value.value, value.scope, value.linear, unsigned=True)


@op_builder
def signed(given: Index | int) -> Index:
    """Return the index `given` as one that may become negative, for a loop to carry.

    Example:
        >>> distance = sl.signed(3)
        >>> for _ in sl.range(8):
        ...     distance = distance - 1
    """
    value = as_index(given)
    return Index(value.value, value.scope, value.linear, unsigned=False)
