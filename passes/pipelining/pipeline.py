"""`smem-pipeline`: loads of later iterations of a loop begin while it multiplies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Block, Module, Op, Value
from ...bindings.mlir import ir
from ...dialect.build import create
from ...dialect.ops import CopyAsyncOp, TileMma
from ...dialect.ops.copy import PERMUTATION
from ...dialect.ops.stage import stage
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import function_of, functions_of
from ...ir.loops import STAGES
from ...ir.walk import holds
from ...layout.banks import MAX_BYTES
from ..driver.base import option
from .loads import TileLoad, loads_of
from .loop_pass import LoopPass
from .rewriting import (
    counts_from_zero,
    erase_dead_tiles,
    erase_unused,
    in_stage,
    loops_of,
    reason_of,
    unmark,
    wanted_stages,
    with_carried,
    with_stages,
    yield_more,
)
from .slices import LoopSlice, new_value_of, slice_of
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

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            # From the last loop to the first: those that are made come before the next one.
            for position in reversed(range(len(loops_of(function)))):
                loop = loops_of(function)[position]
                if STAGES in loop.attributes or not self.only_marked:
                    function = self._with_stages(function, position)  # noqa: PLW2901
                elif self.explain and holds(loop, TileMma) and loads_of(loop)[0]:
                    remark(loop.location, _NOTHING_OVERLAPS)

    def _with_stages(self, function: Op, position: int) -> Op:
        """Give the tiles of a loop stages; return the function, which may be a new one."""
        loop = loops_of(function)[position]
        wanted = wanted_stages(loop, self.stages)
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

        def change(changed: Op) -> str:
            return _give_stages(loops_of(changed)[position], changed, wanted, self.max_bytes)

        try:
            changed, done = self.attempt(function, change)
        except OpError as error:
            self.remark(location, f"stays as it was: {error.message}", is_asked)
            return function
        for reason in late:
            self.remark(location, f"does not load early: {reason}")
        self.remark(location, done)
        return changed


def _give_stages(loop: Op, function: Op, wanted: int, max_bytes: int) -> str:
    """Give the tiles that a loop loads stages; return what was done.

    Raises:
        OpError: if the stages do not fit.
    """
    loads, _ = loads_of(loop)
    tiles = [load.tile for load in loads]
    count = count_stages(function, function, tiles, wanted, max_bytes)
    ahead = max(1, count - 2)
    sizes = " + ".join(str(tile_bytes(tile)) for tile in tiles)
    _StagedLoop(loop, loads, count, ahead).build()
    iterations = "iteration" if ahead == 1 else "iterations"
    return f"has {count} stages of {sizes} bytes, and loads {ahead} {iterations} ahead by cp.async"


class _StagedLoop:
    """A loop whose loads move iterations ahead.

    Args:
        loop: the loop.
        loads: its loads.
        stages: how many stages their tiles get.
        ahead: how many iterations a load begins before its own one, fewer than there are stages.
    """

    def __init__(self, loop: Op, loads: Sequence[TileLoad], stages: int, ahead: int) -> None:
        self._loop, self._loads, self._stages, self._ahead = loop, loads, stages, ahead
        self._body: Block = loop.regions[0].blocks[0]
        self._start: LoopSlice = slice_of([load.copy.source for load in loads], self._body)
        self._tiles: dict[Value, Value] = {}

    def build(self) -> None:
        """Rewrite the loop."""
        with ir.InsertionPoint(self._loop), self._loop.location:
            for load in self._loads:
                self._tiles[load.tile] = with_stages(load.tile, self._stages)
            begin = self._prologue()
            number, carried = self._carry(begin)
        self._read_stages(number)
        with ir.InsertionPoint(self._terminator), self._loop.location:
            self._load_ahead(number, carried)
        unmark(self._loop)
        for load in self._loads:
            load.copy.operation.erase()
        erase_unused(self._start.ops)
        erase_dead_tiles(function_of(self._loop), self._tiles)

    @property
    def _terminator(self) -> Op:
        *_, last = self._body.operations
        return last.operation

    def _prologue(self) -> list[Value]:
        """Emit the loads of the first iterations; return what the load after them begins with."""
        start, stop, step = list(self._loop.operands)[:3]
        inits = [self._loop.operands[3 + i] for i in self._start.carried]
        bounds = [emit.constant(n, start.type) for n in (0, self._ahead, 1)]
        prologue = emit.op("scf.for", (*bounds, *inits), [x.type for x in inits], regions=1)
        arguments = [start.type, *(x.type for x in inits)]
        block = ir.Block.create_at_start(prologue.regions[0], arguments)
        with ir.InsertionPoint(block):
            number, *carried = block.arguments
            variable = number
            if not counts_from_zero(self._loop):
                variable = emit.binary("addi", start, emit.binary("muli", number, step))
            emit.op("scf.yield", self._load_if(variable, stop, number, carried))
        return list(prologue.results)

    def _carry(self, begin: list[Value]) -> tuple[Value, list[Value]]:
        """Let the loop carry where its loads begin, and the number of the iteration; return these."""
        inits = [*begin]
        if not counts_from_zero(self._loop):
            inits.append(emit.constant(0, ir.IndexType.get()))
        if inits:
            self._loop = with_carried(self._loop, inits)
            self._body = self._loop.regions[0].blocks[0]
        added = list(self._body.arguments)[len(self._body.arguments) - len(inits) :]
        if counts_from_zero(self._loop):
            return self._body.arguments[0], added
        return added[-1], added[:-1]

    def _load_ahead(self, number: Value, carried: list[Value]) -> None:
        """Emit the loads of a later iteration, and what the loop carries of them."""
        _, stop, step = list(self._loop.operands)[:3]
        variable = self._body.arguments[0]
        if counts_from_zero(self._loop):
            variable = later = emit.binary("addi", variable, self._ahead)
        else:
            distance = emit.binary("muli", step, self._ahead)
            variable = emit.binary("addi", variable, distance)
            later = emit.binary("addi", number, self._ahead)
        values = self._load_if(variable, stop, later, carried)
        if not counts_from_zero(self._loop):
            values.append(emit.binary("addi", number, 1))
        yield_more(self._terminator, values)

    def _load_if(
        self, variable: Value, stop: Value, number: Value, carried: Sequence[Value]
    ) -> list[Value]:
        """Emit the loads of an iteration, if there is one.

        Args:
            variable: the loop's variable in that iteration.
            stop: its end.
            number: the number of the iteration.
            carried: what the loads begin with in it.

        Returns:
            What they begin with in the next one.
        """
        there_is = emit.compare("slt", variable, stop)
        branch = emit.op("scf.if", (there_is,), [x.type for x in carried], regions=2)
        arguments = self._body.arguments
        mapping = {arguments[0]: variable}
        positions = self._start.carried
        mapping |= {arguments[1 + i]: x for i, x in zip(positions, carried, strict=True)}
        with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
            values = self._start.repeat(mapping)
            at = emit.binary("remui", number, self._stages)
            for load in self._loads:
                with load.copy.location:
                    self._copy(load, values, at)
            following = [self._terminator.operands[i] for i in positions]
            emit.op("scf.yield", [new_value_of(values, x) for x in following])
        if carried:
            with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[1])):
                emit.op("scf.yield", carried)
        return list(branch.results)

    def _copy(self, load: TileLoad, values: Mapping[Value, Value], at: Value) -> None:
        source = new_value_of(values, load.copy.source)
        attributes = load.copy.attributes
        kept = {PERMUTATION: attributes[PERMUTATION]} if PERMUTATION in attributes else {}
        create(CopyAsyncOp, [source, stage(self._tiles[load.tile], at)], **kept)

    def _read_stages(self, number: Value) -> None:
        """Let the ops of the loop take the stage of the iteration."""
        with ir.InsertionPoint.at_block_begin(self._body), self._loop.location:
            at = emit.binary("remui", number, self._stages)
            staged = {load.tile: stage(self._tiles[load.tile], at) for load in self._loads}
        for op in dict.fromkeys(op for load in self._loads for op in load.users):
            for i, operand in enumerate(op.operands):
                op.operands[i] = in_stage(operand, staged, op)
