"""`smem-print-steady-state`: who does what in each iteration of a loop, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby, zip_longest

from ...bindings.diagnostics import file_position, remark
from ...bindings.irtypes import Module, Op, Value
from ...bindings.mlir import ir
from ...dialect.effects import Completion
from ...dialect.op import SmemOp
from ...dialect.ops import (
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CopyAsyncOp,
    CopyOp,
    ElectOp,
    PartitionOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    StageOp,
    TileMma,
    TmaLoadOp,
)
from ...dialect.types import FragmentType, shape_of
from ...ir.kernel import ancestors_of, function_of, functions_of
from ...ir.parameters import parameter_name
from ...ir.subtiles import chain_of
from ...ir.walk import holds, walk
from ..check_async.polynomials import Polynomial
from ..check_async.values import SymbolicValues
from ..driver.base import Pass
from ..order.effects import base_of, pending_of
from .rewriting import loops_of


@dataclass(frozen=True)
class PrintSteadyState(Pass):
    """Prints a remark for each loop that multiplies tiles which it, or a producer, loads: a table of what
    the threads do in each iteration, in their order, with the waits.

    A line has the line of the source, if it is known, and the iteration that an op is for, relative to i.
    """

    name = "smem-print-steady-state"
    description = "print who does what in each iteration of loops that multiply"

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            values = SymbolicValues(function)
            loops = [loop for loop in loops_of(function) if not _holds_loops(loop)]
            for loop in loops:
                if holds(loop, TileMma):
                    remark(loop.location, _table(loop, loops, values))


def _holds_loops(loop: Op) -> bool:
    """Whether there are loops in a loop."""
    return any(op != loop for op in walk(loop, "scf.for"))


def _table(loop: Op, loops: list[Op], values: SymbolicValues) -> str:
    """Return the table of a loop that multiplies, beside the loops of its producers."""
    pipelines = {op.pipeline for op in walk(loop, ConsumerWaitOp)}
    pipelines -= {op.pipeline for op in walk(loop, ProducerAcquireOp)}
    producers = [
        other
        for other in loops
        if pipelines & {op.pipeline for op in walk(other, ProducerAcquireOp)}
    ]
    columns = [[_who(x), *_Column(x, values).lines()] for x in (*producers, loop)]
    widths = [max(map(len, column)) for column in columns]
    rows = zip_longest(*columns, fillvalue="")
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join(["each iteration:", *(f"  {line}" for line in lines)])


def _who(loop: Op) -> str:
    """Return who executes a loop."""
    views = [op.opview for op in ancestors_of(loop)]
    if any(isinstance(view, ElectOp) for view in views):
        return "one thread"
    partition = next((view for view in views if isinstance(view, PartitionOp)), None)
    if partition is None:
        return "all threads"
    count = partition.warpgroups.value
    return "a warpgroup" if count == 1 else f"each of {count} warpgroups"


class _Column:
    """What some threads do in an iteration.

    Args:
        loop: the loop.
        values: the integers of the function.
    """

    def __init__(self, loop: Op, values: SymbolicValues) -> None:
        self._loop, self._values = loop, values
        self._function = function_of(loop)
        variable = values.polynomial(loop.regions[0].blocks[0].arguments[0])
        waits = [values.polynomial(op.index) for op in walk(loop, *_WAITS)]
        is_number = any((index - variable).constant is not None for index in waits)
        self._base: Polynomial = variable if is_number or not waits else waits[0]

    def lines(self) -> list[str]:
        """Return a line for each op, one for several that do the same; none for ops on indices."""
        texts = ((self._text(op), op) for op in walk(self._loop))
        lines: list[str] = []
        for text, pairs in groupby((x for x in texts if x[0]), key=lambda x: x[0]):
            positions = filter(None, (file_position(op.location) for _, op in pairs))
            numbers = sorted({line for _, line, _ in positions})
            lines.append(": ".join(filter(None, (", ".join(map(str, numbers)), text))))
        return lines

    def _text(self, op: Op) -> str:
        view = op.opview
        if isinstance(view, tuple(_VERBS)):
            return f"{_VERBS[type(view)]} {self._iteration(view.index)}".rstrip()
        if isinstance(view, CopyOp | CopyAsyncOp | TmaLoadOp):
            array = base_of(view.operands[0])
            how = {TmaLoadOp: "TMA", CopyAsyncOp: "cp.async"}.get(type(view), "registers")
            name = "a window"
            if isinstance(array.owner, ir.Block) and array.owner.owner.operation == self._function:
                name = parameter_name(self._function, array.arg_number)
            return f"load {name} by {how} {self._of_tile(view.operands[1])}".rstrip()
        if isinstance(view, TileMma):
            (rows, depth), (_, columns) = shape_of(view.a.type), shape_of(view.b.type)
            return f"mma {rows}x{columns}x{depth} {self._of_tile(view.b)}".rstrip()
        if not isinstance(view, SmemOp) or isinstance(view, ElectOp):
            return "barrier of all threads" if op.name == "gpu.barrier" else ""
        if view.effects.awaits is not None:
            pending = pending_of(view)
            awaited = _AWAITED.get(view.effects.awaits, "group of copies")
            return f"wait until {f'at most {pending}' if pending else 'no'} {awaited} runs"
        if view.effects.orders:
            return op.name.removeprefix("smem.").replace("_", " ")
        computes = any(isinstance(x.type, FragmentType) for x in op.results)
        return "arithmetic" if computes and op.name != "smem.broadcast" else ""

    def _of_tile(self, tile: Value) -> str:
        """Return the iteration that a stage of a tile is for."""
        _, chain = chain_of(tile, self._loop)
        for view in chain:
            if isinstance(view, StageOp):
                return self._iteration(_pipeline_index(view.operands[1]))
        return ""

    def _iteration(self, index: Value) -> str:
        """Return the iteration that a pipeline index is for, relative to i; empty if it is not known."""
        ahead = (self._values.polynomial(index) - self._base).constant
        if ahead is None:
            return ""
        sign = f" {'-' if ahead < 0 else '+'} {abs(ahead)}" if ahead else ""
        return f"(i{sign})"


#: What ops do with a pipeline index.
_VERBS = {
    ProducerAcquireOp: "acquire the stage",
    ProducerCommitOp: "commit the stage",
    ConsumerWaitOp: "wait for the stage",
    ConsumerReleaseOp: "release the stage",
}

#: What waits for groups wait for, where these are no copies.
_AWAITED = {Completion.WGMMA_GROUP: "mma", Completion.BULK_GROUP: "store"}

_WAITS = (ProducerAcquireOp, ConsumerWaitOp)


def _pipeline_index(stage: Value) -> Value:
    """Return the pipeline index whose stage a number is."""
    if isinstance(stage.owner, ir.Block):
        return stage
    op = stage.owner.opview
    if isinstance(op, _WAITS):
        return op.index
    return op.operands[0] if op.operation.name == "arith.remui" else stage
