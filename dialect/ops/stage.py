"""`smem.stage`: one stage of a tile that has several."""

from collections.abc import Sequence
from typing import Any

from ...layout.modes import Start
from ..bindings import ext, ir
from ..build import create, index
from ..diagnostics import Invalid, verifier
from ..types import TileType, shape_of
from .part import PartOp, check_part, part_type, stage_start


class StageOp(PartOp, name="stage"):
    """Takes stage `index` of a tile (stages, rows, columns): a tile (rows, columns).

    An index that is not constant must be less than the number of stages; this is not checked.
    """

    tile: ext.Operand[TileType]
    index: ext.Operand[ir.IndexType]
    part: ext.Result[TileType]

    @property
    def starts(self) -> tuple[Start, ...]:
        """The stage."""
        return (stage_start(self),)

    @property
    def run_time_starts(self) -> Sequence[Any]:
        """The index."""
        return [self.index]

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.tile.type, self.part.type
        shape = shape_of(source)
        if len(shape) != 3:
            raise Invalid(f"takes a stage of a tile (stages, rows, columns), not {list(shape)}")
        start = stage_start(self)
        if isinstance(start, int) and not 0 <= start < shape[0]:
            raise Invalid(f"takes stage {start} of a tile that has {shape[0]}")
        check_part(self, source, result, shape[1:])


def stage(tile: Any, at: Any) -> Any:
    """Stage `at` (an index value or an integer) of a tile."""
    return create(
        StageOp, [tile, index(at)], [part_type(tile.type, shape_of(tile.type)[1:])]
    ).result
