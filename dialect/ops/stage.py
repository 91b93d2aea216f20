"""`smem.stage`: one stage of a tile with stages."""

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ext, ir
from ...layout import Multiple
from ...layout.modes import Start
from ..arguments import Index, Tile
from ..build import as_index, create
from ..builder import builder
from ..divisibility import constant_of
from ..types import TileType, shape_of
from ..verifier import verifier
from .subview import SubviewOp, check_subtile, subtile_type


class StageOp(SubviewOp, name="stage"):
    """Takes stage `index` of `tile` (stages, rows, columns). The result is a tile (rows, columns).

    A run-time index that is not less than the number of stages is undefined behaviour:
    `smem-check-async` says where it may not be, and the emulator where it is not.
    """

    tile: ext.Operand[TileType]
    index: ext.Operand[ir.IndexType]
    result: ext.Result[TileType]

    @property
    def positions(self) -> tuple[Value | int, ...]:
        """The stage."""
        constant = constant_of(self.index)
        return (self.index if constant is None else constant,)

    @property
    def starts(self) -> tuple[Start, ...]:
        """The stage, if it is constant."""
        return tuple(
            position if isinstance(position, int) else Multiple(1) for position in self.positions
        )

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.tile.type, self.result.type
        shape, (start,), stages = _stage_shape(source), self.starts, shape_of(source)[0]
        if isinstance(start, int) and not 0 <= start < stages:
            raise Invalid(f"takes stage {start} of a tile that has {stages}")
        check_subtile(self, source, result, shape)


@builder
def stage(tile: Tile, at: Index) -> Value:
    """Build an `smem.stage`: stage `at` (an index value or an integer) of a tile.

    Example:
        >>> print(smem.stage(stages, 1).type)
        !smem.tile<tensor<64x64xbf16>, #smem.auto>
    """
    result = subtile_type(tile.type, _stage_shape(tile.type))
    return create(StageOp, [tile, as_index(at)], [result]).result


def _stage_shape(tile: Type) -> tuple[int, ...]:
    """The shape of a stage of a tile type.

    Raises:
        Invalid: if the tile has no stages.
    """
    shape = shape_of(tile)
    if len(shape) != 3:
        raise Invalid(f"takes a stage of a tile (stages, rows, columns), not {list(shape)}")
    return shape[1:]
