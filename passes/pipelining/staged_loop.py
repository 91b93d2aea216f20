"""A loop whose loads move iterations ahead, by `cp.async`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.build import create
from ...dialect.ops import CopyAsyncOp
from ...dialect.ops.copy import PERMUTATION
from ...dialect.ops.stage import stage
from ...ir import emit
from ...ir.kernel import function_of
from .loads import TileLoad, users_behind
from .rewriting import (
    counts_from_zero,
    erase_dead_tiles,
    erase_unused,
    in_stage,
    unmark,
    with_carried,
    with_stages,
    yield_more,
)
from .slices import LoopSlice, new_value_of, slice_of


class StagedLoop:
    """A loop whose loads move iterations ahead.

    Args:
        loop: the loop.
        loads: its loads.
        stages: how many stages their tiles get.
        ahead: how many iterations a load begins before its own one, fewer than there are stages.

    Attributes:
        loop, body: the loop, as it is now, and its body.
        tiles: the tiles with stages, by tile.
    """

    #: Whether ops behind the loop that fill its tiles anew have the bytes of a stage.
    reuses_stages: ClassVar[bool] = True

    def __init__(self, loop: Op, loads: Sequence[TileLoad], stages: int, ahead: int) -> None:
        self.loop, self.loads, self.stages, self._ahead = loop, loads, stages, ahead
        self.body: Block = loop.regions[0].blocks[0]
        self._start: LoopSlice = slice_of([load.copy.source for load in loads], self.body)
        self.tiles = {load.tile: with_stages(load.tile, stages) for load in loads}

    def build(self) -> None:
        """Rewrite the loop."""
        with ir.InsertionPoint(self.loop), self.loop.location:
            begin = self._prologue()
            number, carried = self._carry(begin)
        self.read_stages(number)
        self._reuse_stages()
        with ir.InsertionPoint(self._terminator), self.loop.location:
            self._load_ahead(number, carried)
        unmark(self.loop)
        for load in self.loads:
            load.copy.operation.erase()
        erase_unused(self._start.ops)
        erase_dead_tiles(function_of(self.loop), self.tiles)

    def _reuse_stages(self) -> None:
        """Let ops behind the loop that fill its tiles anew, and read them, take the bytes of a stage."""
        for load in self.loads:
            for op in users_behind(load.tile, self.loop) if self.reuses_stages else ():
                with ir.InsertionPoint(op), op.location:
                    staged = {load.tile: stage(self.tiles[load.tile], 0)}
                for i, operand in enumerate(op.operands):
                    op.operands[i] = in_stage(operand, staged, op)

    @property
    def _terminator(self) -> Op:
        *_, last = self.body.operations
        return last.operation

    def _prologue(self) -> list[Value]:
        """Emit the loads of the first iterations; return what the load after them begins with."""
        start, stop, step = list(self.loop.operands)[:3]
        inits = [self.loop.operands[3 + i] for i in self._start.carried]
        bounds = [emit.constant(n, start.type) for n in (0, self._ahead, 1)]
        prologue = emit.op("scf.for", (*bounds, *inits), [x.type for x in inits], regions=1)
        arguments = [start.type, *(x.type for x in inits)]
        block = ir.Block.create_at_start(prologue.regions[0], arguments)
        with ir.InsertionPoint(block):
            number, *carried = block.arguments
            variable = number
            if not counts_from_zero(self.loop):
                variable = emit.binary("addi", start, emit.binary("muli", number, step))
            emit.op("scf.yield", self._load_if(variable, stop, number, carried))
        return list(prologue.results)

    def _carry(self, begin: list[Value]) -> tuple[Value, list[Value]]:
        """Let the loop carry where its loads begin, and the number of the iteration; return these."""
        inits = [*begin]
        if not counts_from_zero(self.loop):
            inits.append(emit.constant(0, ir.IndexType.get()))
        if inits:
            self.loop = with_carried(self.loop, inits)
            self.body = self.loop.regions[0].blocks[0]
        added = list(self.body.arguments)[len(self.body.arguments) - len(inits) :]
        if counts_from_zero(self.loop):
            return self.body.arguments[0], added
        return added[-1], added[:-1]

    def _load_ahead(self, number: Value, carried: list[Value]) -> None:
        """Emit the loads of a later iteration, and what the loop carries of them."""
        _, stop, step = list(self.loop.operands)[:3]
        variable = self.body.arguments[0]
        if counts_from_zero(self.loop):
            variable = later = emit.binary("addi", variable, self._ahead)
        else:
            distance = emit.binary("muli", step, self._ahead)
            variable = emit.binary("addi", variable, distance)
            later = emit.binary("addi", number, self._ahead)
        values = self._load_if(variable, stop, later, carried)
        if not counts_from_zero(self.loop):
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
        arguments = self.body.arguments
        mapping = {arguments[0]: variable}
        positions = self._start.carried
        mapping |= {arguments[1 + i]: x for i, x in zip(positions, carried, strict=True)}
        with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
            values = self._start.repeat(mapping)
            self.emit_loads(values, number)
            following = [self._terminator.operands[i] for i in positions]
            emit.op("scf.yield", [new_value_of(values, x) for x in following])
        if carried:
            with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[1])):
                emit.op("scf.yield", carried)
        return list(branch.results)

    # How tiles are loaded, and read.

    def emit_loads(self, values: Mapping[Value, Value], number: Value) -> None:
        """Emit the loads of an iteration.

        Args:
            values: the new values of what they begin with.
            number: the number of the iteration.
        """
        stage_number = emit.binary("remui", number, self.stages)
        for load in self.loads:
            source = new_value_of(values, load.copy.source)
            permutation = load.copy.attributes.get(PERMUTATION, None)
            with load.copy.location:
                tile = stage(self.tiles[load.tile], stage_number)
                create(CopyAsyncOp, [source, tile], permutation=permutation)

    def read_stages(self, number: Value) -> None:
        """Let the ops of the loop take the stage of the iteration of a number."""
        with ir.InsertionPoint.at_block_begin(self.body), self.loop.location:
            stage_number = emit.binary("remui", number, self.stages)
            staged = {load.tile: stage(self.tiles[load.tile], stage_number) for load in self.loads}
        for op in dict.fromkeys(op for load in self.loads for op in load.users):
            for i, operand in enumerate(op.operands):
                op.operands[i] = in_stage(operand, staged, op)
