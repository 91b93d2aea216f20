"""`smem-pipeline`: loads of later iterations of a loop begin while it multiplies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Module, Op
from ...bindings.mlir import ir
from ...dialect.ops import TileMma
from ...ir.errors import OpError
from ...ir.loops import COPIES, STAGES, WAYS_OF_COPIES
from ...ir.walk import holds
from ...layout.banks import MAX_BYTES
from ..driver.base import option
from .bulk_staged_loop import BulkStagedLoop
from .loads import has_other_users, loads_of, users_behind
from .loop_pass import LoopPass
from .rewriting import loops_of, reason_of, wanted_stages
from .staged_loop import StagedLoop
from .stages import count_stages, tile_bytes

#: The remark about a loop that asks for nothing.
_NOTHING_OVERLAPS = (
    "loads and products do not overlap in this loop: give it stages (cp.async), or specialize it (a "
    "producer, TMA)"
)


@dataclass(frozen=True)
class PipelineLoops(LoopPass):
    """Gives the tiles that a loop loads stages, and loads them iterations ahead, by `cp.async`.

    A load is an `smem.copy` from an array that no op writes, to a whole tile that only its iteration
    reads, after it. The loads of the first iterations come before the loop, those of a later one behind
    the other ops of each iteration. What cannot be loaded early stays where it is.
    """

    name = "smem-pipeline"
    description = "load the tiles of loops iterations ahead, in stages"

    stages: int = option(0, "stages of loops without smem.stages; 0: as many as fit, up to four")
    only_marked: bool = option(False, "leave loops without the attribute smem.stages as they are")
    max_bytes: int = option(MAX_BYTES, "shared memory of a CTA, in bytes")
    copies: str = option("cp-async", "how loops without smem.copies load", choices=WAYS_OF_COPIES)

    def run(self, module: Module) -> None:
        self.change_loops(module, self._with_stages)

    def _with_stages(self, function: Op, position: int) -> Op:
        """Give the tiles of a loop stages; return the function, which may be a new one."""
        loop = loops_of(function)[position]
        if STAGES not in loop.attributes and self.only_marked:
            if self.explain and holds(loop, TileMma) and loads_of(loop)[0]:
                remark(loop.location, _NOTHING_OVERLAPS)
            return function
        wanted, copies = wanted_stages(loop, self.stages), _copies_of(loop, self.copies)
        if wanted == 1:
            return function
        loads, errors = loads_of(loop)
        late = [reason_of(error) for error in errors]
        location, is_asked = loop.location, STAGES in loop.attributes
        if not loads:
            if late or is_asked:
                reason = (*late, "it copies no window of an array to a tile")[0]
                self.remark(location, f"stays as it was: {reason}", is_asked)
            return function

        reasons = []
        for way in ("tma", "cp-async") if copies == "auto" else (copies,):
            change = partial(self._change, position=position, wanted=wanted, copies=way)
            try:
                changed, done = self.attempt(function, change)
            except OpError as error:
                reasons.append(error.message)
                continue
            for reason in late:
                self.remark(location, f"does not load early: {reason}")
            self.remark(location, done)
            return changed
        self.remark(location, f"stays as it was: {reasons[-1]}", is_asked)
        return function

    def _change(self, function: Op, position: int, wanted: int, copies: str) -> str:
        """Give the tiles of a loop of a function stages; return what was done."""
        loop = loops_of(function)[position]
        return _give_stages(loop, function, wanted, self.max_bytes, copies)


def _copies_of(loop: Op, default: str) -> str:
    """Return how a loop loads.

    Raises:
        OpError: if the attribute is no such way.
    """
    if COPIES not in loop.attributes:
        return default
    attribute = loop.attributes[COPIES].maybe_downcast()
    if not isinstance(attribute, ir.StringAttr) or attribute.value not in WAYS_OF_COPIES:
        raise OpError(loop, f"has {COPIES} = {attribute}; expected {' or '.join(WAYS_OF_COPIES)}")
    return attribute.value


def _give_stages(loop: Op, function: Op, wanted: int, max_bytes: int, copies: str) -> str:
    """Give the tiles that a loop loads stages; return what was done.

    Raises:
        OpError: if the stages do not fit.
    """
    loads, _ = loads_of(loop)
    way = BulkStagedLoop if copies == "tma" else StagedLoop
    tiles = [load.tile for load in loads]
    more = sum(
        tile_bytes(load.tile)
        for load in loads
        if has_other_users(load, users_behind(load.tile, loop) if way.reuses_stages else ())
    )
    count = count_stages(function, function, tiles, wanted, max_bytes, more)
    sizes = " + ".join(str(tile_bytes(tile)) for tile in tiles)
    ahead = count - 1 if copies == "tma" else max(1, count - 2)
    way(loop, loads, count, ahead).build()
    iterations = "iteration" if ahead == 1 else "iterations"
    how = "TMA" if copies == "tma" else "cp.async"
    return f"has {count} stages of {sizes} bytes, and loads {ahead} {iterations} ahead by {how}"
