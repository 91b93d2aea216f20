"""Parts of tiles: where a stage or a subtile begins, and what type it has."""

from collections.abc import Sequence
from typing import Any

from ...layout import Multiple, Slice, TileLayout
from ...layout.modes import Start
from ..attributes import auto
from ..diagnostics import Invalid
from ..op import SmemOp
from ..types import layout_of, shape_of, tensor_of, tile, tile_element

#: Stands in `static_offsets` for an offset that an operand gives, as in `memref.subview`.
DYNAMIC = -(1 << 63)


class SubviewOp(SmemOp):
    """An op that takes a part of a tile: the part shows bytes of the tile, and has none of its own."""

    @property
    def starts(self) -> tuple[Start, ...]:
        """Where the part begins along each dimension that is cut, as the layout's mathematics takes it.

        Raises:
            Invalid: if the attributes and the operands do not fit each other.
        """
        raise NotImplementedError

    @property
    def run_time_starts(self) -> Sequence[Any]:
        """The index values that `starts` tells a divisor of, in their order."""
        raise NotImplementedError

    def slice_of(self, source: TileLayout) -> Slice:
        """The part that the op takes of a tile of layout `source`.

        Raises:
            LayoutError: if it leaves the tile.
        """
        starts = self.starts
        if len(starts) == 1:
            return source.stage(starts[0])
        return source.slice(starts, shape_of(self.result.type))


def check_subtile(op: Any, source: Any, result: Any, shape: tuple[int, ...]) -> None:
    """Checks that the type of a part follows from the tile's and the op.

    Raises:
        Invalid: if shape, element type or layout differ from what the op takes.
    """
    if shape_of(result) != tuple(shape):
        raise Invalid(f"results in {list(shape_of(result))}, but it takes {list(shape)}")
    if tile_element(result) != tile_element(source):
        raise Invalid(f"results in {tile_element(result)}, but the tile has {tile_element(source)}")
    given, whole = layout_of(result), layout_of(source)
    if whole is None:
        if given is not None:
            raise Invalid("results in a layout, but its tile's is not chosen yet")
        return
    expected = op.slice_of(whole).layout
    if given is not None and given not in (expected, _known_less(op, whole, given)):
        raise Invalid(f"results in the layout {given}, but that part of the tile has {expected}")


def _known_less(op: Any, whole: TileLayout, given: TileLayout) -> TileLayout | None:
    """The part's layout where no more is known of run-time starts than its origin says.

    Folding constants may tell more of a start than was known when the part got its type.
    """
    if len(op.starts) == 1:
        return None
    starts = [
        Multiple(origin.of)
        if isinstance(start, Multiple) and isinstance(origin, Multiple) and not start.of % origin.of
        else start
        for start, origin in zip(op.starts, given.origins, strict=True)
    ]
    return whole.slice(starts, given.shape).layout


def subtile_type(source: Any, shape: Sequence[int]) -> Any:
    """The type that a part has before layouts are assigned."""
    return tile(shape, tensor_of(source).element_type, auto())
