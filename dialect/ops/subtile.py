"""`smem.subtile`: a rectangle of a tile."""

from collections.abc import Sequence
from math import lcm
from typing import Any

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Value
from ...bindings.mlir import ext, ir
from ...layout import Multiple
from ...layout.modes import Start
from ..arguments import Index, Tile
from ..build import create
from ..builder import builder
from ..divisibility import constant_of, divisor
from ..types import TileType, shape_of
from ..verifier import verifier
from .subview import DYNAMIC, SubviewOp, check_subtile, subtile_type


class SubtileOp(SubviewOp, name="subtile"):
    """Takes a rectangle of `tile`, with the shape of the result, that begins at (row, column), in
    elements.

    `static_offsets` holds the row and the column. An entry of -2^63 stands for the next operand of
    `offsets`, as in `memref.subview`. The known divisors of an offset (from constants, products, loop
    steps, ...) determine which ops can read the subtile. The optional attribute `multiple_of`, a number
    for each operand, asserts further divisors.

    A subtile can begin and end at any element. Copies need 16-byte units. An mma needs each MMA tile (32
    bytes of K; 64 rows of A, or the instruction's columns of B) to be within one swizzle atom. That
    holds for offsets that are multiples of 32 bytes along K, and multiples of an atom along M or N if
    that is the contiguous dimension. A run-time offset that leaves the tile or violates `multiple_of` is
    undefined behaviour: `smem-check-async` says where it may leave the tile, and the emulator where it
    does either.
    """

    tile: ext.Operand[TileType]
    offsets: Sequence[ext.Operand[ir.IndexType]]
    result: ext.Result[TileType]
    static_offsets: Any

    @property
    def positions(self) -> tuple[Value | int, ...]:
        """The row and the column."""
        static = self.static_offsets
        if not isinstance(static, ir.DenseI64ArrayAttr) or len(list(static)) != 2:
            raise Invalid(f"takes static_offsets = array<i64: row, column>, not {static}")
        dynamic = sum(offset == DYNAMIC for offset in static)
        if dynamic != len(self.offsets):
            raise Invalid(f"has {len(self.offsets)} offset operands for {dynamic} run-time offsets")
        values = iter(self.offsets)
        return tuple(next(values) if offset == DYNAMIC else offset for offset in static)

    @property
    def starts(self) -> tuple[Start, ...]:
        """The row and the column; 0 along a dimension that is taken whole, where no other start is
        inside."""
        asserted = iter(self.multiple_of)
        starts: list[Start] = []
        extents = shape_of(self.result.type), shape_of(self.tile.type)
        for position, size, extent in zip(self.positions, *extents, strict=True):
            if isinstance(position, int):
                starts.append(position)
                continue
            multiple = lcm(next(asserted), divisor(position))
            starts.append(0 if size == extent else Multiple(multiple))
        return tuple(starts)

    @property
    def multiple_of(self) -> list[int]:
        """For each run-time offset, a number that it is asserted to be a multiple of; 1 by default.

        Raises:
            Invalid: if the attribute does not hold a positive number for each.
        """
        count = len(self.offsets)
        if "multiple_of" not in self.attributes:
            return [1] * count
        attribute = self.attributes["multiple_of"]
        asserted = list(attribute) if isinstance(attribute, ir.DenseI64ArrayAttr) else []
        if len(asserted) != count or any(n < 1 for n in asserted):
            raise Invalid(
                f"takes multiple_of with a positive number for each of {count} run-time offsets, "
                f"not {attribute}"
            )
        return asserted

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.tile.type, self.result.type
        shape, sizes = shape_of(source), shape_of(result)
        if len(shape) != 2:
            raise Invalid(
                f"takes a subtile of a tile (rows, columns), not {list(shape)}; take a stage"
            )
        _ = self.multiple_of
        for dim, position in enumerate(self.positions):
            start = position if isinstance(position, int) else constant_of(position)
            if len(sizes) == 2 and start is not None:
                last = start + sizes[dim] - 1
                if start < 0 or last >= shape[dim]:
                    raise Invalid(
                        f"takes elements {start} to {last} of dimension {dim}, which has {shape[dim]}"
                    )
        check_subtile(self, source, result, sizes if len(sizes) == 2 else shape)


@builder
def subtile(
    tile: Tile,
    offsets: Sequence[Index],
    sizes: Sequence[int],
    multiple_of: Sequence[int] | None = None,
) -> Value:
    """Build an `smem.subtile`: `sizes` (rows, columns) of `tile` from `offsets` (integers or index
    values).

    Args:
        tile: a tile (rows, columns).
        offsets: the first row and column, in elements: integers or index values.
        sizes: rows and columns, in elements.
        multiple_of: for each index value, a number that is known to divide it.

    Example:
        >>> print(smem.subtile(a, offsets=(0, 32), sizes=(64, 32)).type)
        !smem.tile<tensor<64x32xbf16>, #smem.auto>
    """
    static = [o if isinstance(o, int) else DYNAMIC for o in offsets]
    operands = [tile, *(o for o in offsets if not isinstance(o, int))]
    result = subtile_type(tile.type, sizes)
    return create(
        SubtileOp, operands, [result], static_offsets=static, multiple_of=multiple_of
    ).result
