"""`smem.stage`: one stage of a tile that has several."""

from typing import Any

from ..bindings import ext, ir
from ..build import create, index
from ..diagnostics import Invalid, verifier
from ..smem import Smem
from ..types import TileType, shape_of
from .part import check_part, part_type, stage_start


class StageOp(Smem.Operation, name="stage"):
    """Takes stage `index` of a tile (stages, rows, columns): a tile (rows, columns).

    An index that is not constant must be less than the number of stages; this is not checked.
    """

    tile: ext.Operand[TileType]
    index: ext.Operand[ir.IndexType]
    part: ext.Result[TileType]

    @verifier
    def verify_region_invariants(self) -> None:
        source, result = self.operands[0].type, self.results[0].type
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
