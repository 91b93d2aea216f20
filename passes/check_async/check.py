"""The rules of one function: proven, broken, or not known."""

from typing import Any

from ...dialect.diagnostics import remark
from ...dialect.effects import Completion
from ...dialect.ops import CreatePipelineOp, WarpSpecializeOp
from ...dialect.smem import Smem
from ...ir.errors import OpError
from ...ir.walk import holds
from . import report
from .pairs import check_pairs
from .pipelines import check_pipelines
from .program import Load, Mma, Program
from .prove import Proof, refute
from .regions import Allocation
from .translate import translate
from .warpgroups import check_warpgroups


def check(function: Any) -> None:
    """Checks a function; what is neither proven nor wrong is said in remarks.

    Raises:
        OpError: if it is wrong.
    """
    blocks = [block for region in function.regions for block in region.blocks]
    if not blocks:
        return
    check_pairs(function)
    check_warpgroups(function)
    if holds(function, WarpSpecializeOp, CreatePipelineOp, *filter(_is_bulk, Smem.operations)):
        if len(blocks) > 1:
            _remark_blocks(function)
        else:
            check_pipelines(function, blocks[0])
        return
    program = translate(function, blocks)
    if not program.readers and not program.copies:
        return
    if len(blocks) > 1:
        _remark_blocks(function)
        return
    _check_contents(program)
    proof = Proof(program)
    proof.run()
    found = refute(program) if proof.conflicts else None
    if found:
        raise OpError(found.op, report.error(found))
    for (op, _), message in _unproven(program, proof).items():
        remark(op.location, message)


def _is_bulk(op: Any) -> bool:
    """Whether ops of a class copy in bulk; the program of one block's threads does not follow these."""
    return op.effects.completion in (Completion.BULK_GROUP, Completion.MBARRIER)


def _remark_blocks(function: Any) -> None:
    reason = "the function has several blocks"
    remark(function.location, f"cannot prove that accesses of tiles are in order: {reason}")


def _check_contents(program: Program) -> None:
    """Checks that something writes what is read."""
    for reader, allocation in _unwritten(program):
        if not allocation.outside:
            raise OpError(reader.op, f"reads the {report.at(allocation.op)}, which nothing writes")


def _unwritten(program: Program) -> list[tuple[Mma | Load, Allocation]]:
    """What reads a tile that no copy of the function writes."""
    written = {copy.place.allocation.memory for copy in program.copies}
    return [
        (reader, place.allocation)
        for reader in program.readers
        for place in reader.places
        if place.allocation.memory not in written and not place.allocation.of_registers
    ]


def _unproven(program: Program, proof: Proof) -> dict[tuple[Any, str], str]:
    """What is not known to be in order, once for each op and reason."""
    found = {
        (op, reason): f"cannot prove that accesses of tiles are in order: {reason}"
        for op, reason in (*proof.skipped.items(), *program.unknown.items())
    }
    for reader, allocation in _unwritten(program):
        reason = "no copy of this function writes it"
        found[reader.op, reason] = (
            f"cannot prove that the {report.at(allocation.op)} is written: {reason}"
        )
    for conflict in proof.conflicts:
        found.setdefault((conflict.op, report.reason(conflict)), report.remark(conflict))
    return found
