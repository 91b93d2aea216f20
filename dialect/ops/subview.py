"""The base class of `smem.stage`, `smem.subtile` and `smem.transpose`: their starts and their type."""

from collections.abc import Sequence
from typing import Any

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...layout import Multiple, PathElement, Slice, TileLayout
from ...layout.modes import Start
from ..attributes import auto
from ..op import SmemOp
from ..types import layout_of, shape_of, tensor_of, tile, tile_element

#: Stands in `static_offsets` for an offset that an operand gives, as in `memref.subview`.
DYNAMIC = -(1 << 63)


class SubviewOp(SmemOp):
    """An op whose result is a subtile: a view of bytes of its tile."""

    @property
    def positions(self) -> tuple[Value | int, ...]:
        """The start along each dimension that is sliced: a number, or an index value.

        Raises:
            Invalid: if attributes and operands are inconsistent.
        """
        raise NotImplementedError

    @property
    def starts(self) -> tuple[Start, ...]:
        """The start along each dimension that is sliced: a number, or a `Multiple` for a run-time start.

        Raises:
            Invalid: if attributes and operands are inconsistent.
        """
        raise NotImplementedError

    @property
    def run_time_starts(self) -> Sequence[Any]:
        """The index values of the run-time starts, in order."""
        pairs = zip(self.positions, self.starts, strict=True)
        return [position for position, start in pairs if isinstance(start, Multiple)]

    @property
    def path_element(self) -> PathElement:
        """The step from the tile to the result.

        Raises:
            Invalid: if attributes and operands are inconsistent.
        """
        starts = self.starts
        return PathElement(starts, None if len(starts) == 1 else shape_of(self.result.type))

    def slice_of(self, source: TileLayout) -> Slice:
        """Return the slice that the op takes of a tile of layout `source`.

        Raises:
            LayoutError: if it leaves the tile.
        """
        return self.path_element.slice_of(source)


def check_subtile(op: SubviewOp, source: Type, result: Type, shape: tuple[int, ...]) -> None:
    """Check that the type of a subtile follows from the type of the tile and the op.

    Raises:
        Invalid: if its shape, element type or layout is another.
    """
    if shape_of(result) != tuple(shape):
        raise Invalid(f"results in {list(shape_of(result))}, but it takes {list(shape)}")
    if tile_element(result) != tile_element(source):
        raise Invalid(f"results in {tile_element(result)}, but the tile has {tile_element(source)}")
    layout, tile_layout = layout_of(result), layout_of(source)
    if tile_layout is None:
        if layout is not None:
            raise Invalid("results in a layout, but the layout of its tile is not assigned yet")
        return
    expected = op.slice_of(tile_layout).layout
    if layout is not None and layout not in (
        expected,
        _with_weaker_divisors(op, tile_layout, layout),
    ):
        raise Invalid(f"results in the layout {layout}, but the subtile has {expected}")


def _with_weaker_divisors(
    op: SubviewOp, tile_layout: TileLayout, layout: TileLayout
) -> TileLayout | None:
    """The subtile's layout if its run-time starts have only the divisors in the origin of `layout`.

    Constant folding can reveal more divisors of a start than were known when the type was created.
    """
    if len(op.starts) < 2:
        return None
    starts = [
        Multiple(origin.of)
        if isinstance(start, Multiple) and isinstance(origin, Multiple) and not start.of % origin.of
        else start
        for start, origin in zip(op.starts, layout.origins, strict=True)
    ]
    return tile_layout.slice(starts, layout.shape).layout


def subtile_type(source: Type, shape: Sequence[int]) -> Type:
    """Return the type of a subtile before layouts are assigned."""
    return tile(shape, tensor_of(source).element_type, auto())
