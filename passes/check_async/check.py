"""The rules for one function: each is proven, broken, or not proven."""

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Block, Op
from ...dialect.effects import Completion
from ...dialect.op import SmemOp
from ...dialect.ops import CreatePipelineOp, LoadOp, WarpSpecializeOp
from ...dialect.smem import Smem
from ...ir.errors import OpError
from ...ir.walk import holds, walk
from ..order import report
from ..order.program import StepProgram
from ..order.prove import Proof, check_written, prove, refute, unwritten
from ..order.translate import translate
from .assumptions import check_assumptions
from .bounds import check_bounds
from .pipelines import check_pipelines
from .warpgroups import check_cta_pairs, check_order, check_reductions, check_warpgroups

#: Why a function is not followed.
SEVERAL_BLOCKS = "the function has several blocks"


def check(function: Op) -> None:
    """Check a function; remarks state what is neither proven nor wrong.

    Raises:
        OpError: if some run breaks a rule.
    """
    blocks = blocks_of(function)
    if not blocks:
        return
    check_assumptions(function)
    check_bounds(function)
    check_cta_pairs(function)
    check_warpgroups(function)
    check_reductions(function)
    check_order(function)
    if has_pipelines(function):
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
    check_written(program)
    proof = prove(function, program)
    hazard = refute(function, program) if proof.hazards else None
    if hazard:
        raise OpError(report.op_of(hazard), report.error(hazard))
    for (op, _), message in _unproven(program, proof).items():
        remark(op.location, message)


def blocks_of(function: Op) -> list[Block]:
    """Return the blocks of a function; none of a declaration."""
    return [block for region in function.regions for block in region.blocks]


def has_pipelines(function: Op) -> bool:
    """Whether a function is checked partition by partition, not as one program of all threads."""
    if holds(function, WarpSpecializeOp, CreatePipelineOp, *filter(_is_load, Smem.operations)):
        return True
    return any(op.rank is not None for op in walk(function, LoadOp))


def _is_load(op: type[SmemOp]) -> bool:
    """Whether accesses of a class of ops complete at an mbarrier, which pipelines have."""
    return op.effects.completion is Completion.MBARRIER


def _remark_blocks(function: Op) -> None:
    remark(function.location, f"{report.NOT_PROVEN}: {SEVERAL_BLOCKS}")


def _unproven(program: StepProgram, proof: Proof) -> dict[tuple[Op, str], str]:
    """Return the remarks about what is not proven, one for each op and reason."""
    messages = {
        (op, reason): f"{report.NOT_PROVEN}: {reason}"
        for op, reason in (*proof.skipped.items(), *program.unknown.items())
    }
    for reader, allocation in unwritten(program):
        reason = "no copy of this function writes it"
        messages[reader.op, reason] = (
            f"cannot prove that the {report.label(allocation.op)} is written: {reason}"
        )
    for hazard in proof.hazards:
        messages.setdefault((report.op_of(hazard), report.reason(hazard)), report.remark(hazard))
    return messages
