"""Messages about hazards, and the ops that are missing between their accesses."""

from ...bindings.diagnostics import format_location
from ...bindings.irtypes import Op
from ...dialect.effects import Completion, Proxy
from ...dialect.op import SmemOp
from ...dialect.ops import (
    CopyCommitOp,
    CopyWaitOp,
    FenceOp,
    TmaCommitOp,
    TmaWaitOp,
    WaitOp,
)
from .hazards import Hazard
from .needs import CTA_BARRIER, Need, needs_text
from .rectangles import Rectangle

#: The beginning of remarks about what is not proven.
NOT_PROVEN = "cannot prove that accesses of tiles are in order"


def error(hazard: Hazard) -> str:
    """Return the message about a hazard that occurs in some run."""
    if hazard.at_end:
        missing = needs_text(needs(hazard))
        return f"may still read its tile when the kernel ends; put {missing} before the end"
    reads_and_writes = hazard.writes and not hazard.after_write
    if reads_and_writes and hazard.earlier == hazard.op and not _iteration(hazard):
        tile = _tile(hazard.rectangle)
        fix = "copy to a subtile that does not overlap the other"
        return f"reads and writes the same bytes of {tile}; {fix}"
    if hazard.rectangle.allocation.of_registers:
        return (
            f"writes registers that the {label(hazard.earlier)} may still be reading"
            f"{_iteration(hazard)}; put {needs_text(needs(hazard))} between them"
        )
    return (
        f"{_verb(hazard)} {_tile(hazard.rectangle)} before the {label(hazard.earlier)} is over"
        f"{_iteration(hazard)}; put {needs_text(needs(hazard))} between them"
    )


def remark(hazard: Hazard) -> str:
    """Return the message about a hazard that may not occur."""
    if hazard.at_end:
        return f"cannot prove that it has read its tile when the kernel ends: {reason(hazard)}"
    if hazard.rectangle.allocation.of_registers:
        return (
            f"cannot prove that the {label(hazard.earlier)} is over when this writes its registers "
            f"again: {reason(hazard)}"
        )
    return (
        f"cannot prove that the {label(hazard.earlier)} is over when this {_verb(hazard)} "
        f"{_tile(hazard.rectangle)}: {reason(hazard)}"
    )


def op_of(hazard: Hazard) -> Op:
    """Return the op at which a hazard is reported."""
    return hazard.earlier if hazard.at_end else hazard.op


def _is_bulk_store(op: Op) -> bool:
    return isinstance(op, SmemOp) and op.effects.completion is Completion.BULK_GROUP


def _verb(hazard: Hazard) -> str:
    return "overwrites" if hazard.writes else "reads"


def label(op: Op) -> str:
    """Return the label of an op in messages: its name and location."""
    return f"{op.operation.name} at {format_location(op.location)}"


def _tile(rectangle: Rectangle) -> str:
    tile = f"the {label(rectangle.allocation.op)}"
    if rectangle.allocation.stages == 1:
        return tile
    return f"{'a stage' if rectangle.stage is None else f'stage {rectangle.stage}'} of {tile}"


def _iteration(hazard: Hazard) -> str:
    """Return the iteration of the innermost loop that is not in its first iteration, in words; else
    ""."""
    for loop, iteration in reversed(hazard.trail):
        if iteration:
            where = format_location(loop.location)
            return f", in iteration {iteration} (from 0) of the loop at {where}"
    return ""


def needs(hazard: Hazard) -> tuple[Need, ...]:
    """Return the ops that are missing between the two accesses."""
    age = hazard.age
    if _is_bulk_store(hazard.earlier):
        missing = [Need(TmaCommitOp)] if age is not None and age < 0 else []
        if age is not None:
            read = not hazard.after_write
            missing.append(Need(TmaWaitOp, max(age, 0), elected=True, read=read))
        return (*missing, *([] if hazard.at_end or hazard.past_barrier else [CTA_BARRIER]))
    if not hazard.after_write:
        waits = [] if age is None else [Need(WaitOp, age)]
        if hazard.proxy is Proxy.ASYNC and hazard.writes and not hazard.fenced:
            waits.append(Need(FenceOp))
        return (*waits, *([] if hazard.rectangle.allocation.of_registers else [CTA_BARRIER]))
    missing = []
    if age is not None:
        missing = [Need(CopyCommitOp)] if age < 0 else []
        missing.append(Need(CopyWaitOp, max(age, 0)))
    if hazard.proxy is Proxy.ASYNC and not hazard.fenced:
        missing.append(Need(FenceOp))
    return (*missing, *([] if hazard.past_barrier else [CTA_BARRIER]))


def reason(hazard: Hazard) -> str:
    """Return why it is not known whether a hazard occurs."""
    if hazard.perhaps is not None:
        op = hazard.perhaps
        return f"'{op.operation.name}' at {format_location(op.location)} may order them"
    if hazard.unsure:
        return hazard.unsure
    return f"there may be a path without {needs_text(needs(hazard))} between them"
