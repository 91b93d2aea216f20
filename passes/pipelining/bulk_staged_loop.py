"""A loop whose loads move iterations ahead, by TMA: one thread of the CTA loads, all threads multiply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.build import create
from ...dialect.ops import ElectOp
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import function_of, threads_of
from ...layout.fragments import WARPGROUP
from ..check_async.integer_ranges import IntegerRanges
from ..insert_sync.insertion_points import loops_around
from .bulk_loads import box_of
from .counting import LoopCount
from .loads import TileLoad
from .pipelined_loads import make_pipelines
from .staged_loop import StagedLoop


class BulkStagedLoop(StagedLoop):
    """A loop whose loads move iterations ahead, through pipelines; arguments as for `StagedLoop`.

    Raises:
        OpError: at what TMA cannot load; at a loop in a loop, whose pipelines would run on.
    """

    #: A pipeline's stages are in order among its producers and consumers, not with others.
    reuses_stages = False

    def __init__(self, loop: Op, loads: Sequence[TileLoad], stages: int, ahead: int) -> None:
        function = function_of(loop)
        threads = threads_of(function)
        if threads is None or threads % WARPGROUP:
            count = threads or "an unknown number of"
            raise OpError(function, f"has {count} threads; TMA's loads take whole warpgroups")
        ranges = IntegerRanges(function)
        boxes = [box_of(load, ranges) for load in loads]
        if loops_around(loop):
            raise OpError(
                loop,
                "is in another loop, where TMA takes a producer (smem.specialize); or use cp.async",
            )
        super().__init__(loop, loads, stages, ahead)
        pairs, index = zip(loads, boxes, strict=True), self.body.arguments[0]
        with ir.InsertionPoint(self.tiles[loads[0].tile].owner):
            self._groups = make_pipelines(
                self.body, pairs, self.tiles, threads // WARPGROUP, index, LoopCount(loop, None)
            )

    def emit_loads(self, values: Mapping[Value, Value], number: Value) -> None:
        elect = create(ElectOp, regions=1, scope="cta")
        with ir.InsertionPoint(ir.Block.create_at_start(elect.regions[0], [])):
            for group in self._groups:
                group.emit(values, number)

    def read_stages(self, number: Value) -> None:
        with ir.InsertionPoint.at_block_begin(self.body), self.loop.location:
            index = emit.warp_uniform(number)
        for group in self._groups:
            # `_carry` may have built the loop anew.
            group.block, group.index = self.body, index
            group.count = LoopCount(self.loop, None)
            group.take_stages()
