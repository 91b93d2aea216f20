"""What is said of accesses that are in the wrong order, or not known to be in the right one."""

from typing import Any

from ...dialect.diagnostics import format_location
from ...dialect.effects import Proxy
from ...dialect.op import SmemOp
from ...dialect.ops import CopyCommitOp, CopyWaitOp, FenceOp, WaitOp
from .hazards import Read
from .machine import Conflict
from .regions import Region


def error(conflict: Conflict) -> str:
    """What is said of a conflict that some run has."""
    reads_and_writes = conflict.writes and isinstance(conflict.other, Read)
    if reads_and_writes and conflict.other.op == conflict.op and not _iteration(conflict):
        tile = _tile(conflict.region)
        return f"reads and writes the same bytes of {tile}; copy to a part that does not meet the other"
    if conflict.region.allocation.of_registers:
        waits = wait_for(WaitOp, conflict.age or 0)
        return (
            f"writes registers that the {at(conflict.other.op)} may still be reading"
            f"{_iteration(conflict)}; put {waits} between them"
        )
    return (
        f"{_verb(conflict)} {_tile(conflict.region)} before the {at(conflict.other.op)} is over"
        f"{_iteration(conflict)}; put {_missing(conflict)} between them"
    )


def remark(conflict: Conflict) -> str:
    """What is said of a conflict that is not known to happen."""
    if conflict.region.allocation.of_registers:
        return (
            f"cannot prove that the {at(conflict.other.op)} is over when this writes its registers "
            f"again: {reason(conflict)}"
        )
    return (
        f"cannot prove that the {at(conflict.other.op)} is over when this {_verb(conflict)} "
        f"{_tile(conflict.region)}: {reason(conflict)}"
    )


def _verb(conflict: Conflict) -> str:
    return "overwrites" if conflict.writes else "reads"


def at(op: Any) -> str:
    """An op by its name and place."""
    return f"{op.operation.name} at {format_location(op.location)}"


def _tile(region: Region) -> str:
    tile = f"the {at(region.allocation.op)}"
    if region.allocation.stages == 1:
        return tile
    return f"{'a stage' if region.stage is None else f'stage {region.stage}'} of {tile}"


def _iteration(conflict: Conflict) -> str:
    """The innermost loop that has come round."""
    for loop, iteration in reversed(conflict.trail):
        if iteration:
            where = format_location(loop.op.location)
            return f", in iteration {iteration} (from 0) of the loop at {where}"
    return ""


def _missing(conflict: Conflict) -> str:
    """What would put the two in order."""
    if isinstance(conflict.other, Read):
        needs = [wait_for(WaitOp, conflict.age)] if conflict.age is not None else []
        return listed([*needs, "gpu.barrier"])
    write = conflict.other
    needs = []
    if conflict.age is not None:
        needs = [CopyCommitOp.OPERATION_NAME] if conflict.age < 0 else []
        needs.append(wait_for(CopyWaitOp, max(conflict.age, 0)))
    if conflict.proxy is Proxy.ASYNC and not write.fenced:
        needs.append(FenceOp.OPERATION_NAME)
    needs += [] if write.met else ["gpu.barrier"]
    return listed(needs)


def wait_for(op: type[SmemOp], pending: int) -> str:
    """The wait that leaves no more than so many groups pending."""
    return f"{op.OPERATION_NAME} with pending = {pending}{' or less' if pending else ''}"


def listed(words: list[str]) -> str:
    """Words as a sentence lists them."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def reason(conflict: Conflict) -> str:
    """Why it is not known whether a conflict happens."""
    if conflict.other.doubt is not None:
        doubt = conflict.other.doubt
        return f"'{doubt.operation.name}' at {format_location(doubt.location)} may order them"
    if conflict.unsure:
        return conflict.unsure
    return f"there may be a path without {_missing(conflict)} between them"
