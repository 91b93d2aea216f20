"""What is not in order in a function, as data: `smem-insert-sync` puts it in order."""

from dataclasses import dataclass, field, replace

from ...dialect.irtypes import Op
from ...dialect.ops import SemaphoreArriveOp
from ...ir.errors import OpError
from ..order import report
from ..order.global_memory import GlobalMemory
from ..order.needs import Need, Unordered
from ..order.program import Program
from ..order.prove import prove
from ..order.translate import translate
from ..order.written import check_written
from .check import SEVERAL_BLOCKS, blocks_of, has_pipelines
from .pipelines import follow_pipelines
from .pipelines.findings import Findings, Order
from .pipelines.global_arrays import unordered_accesses
from .pipelines.pipeline_use import PipelineUse
from .pipelines.state import State


@dataclass
class Analysis:
    """What is not proven about a function.

    Attributes:
        unordered: accesses that are not in order on some path, in the order in which they were found.
        unknown: the other ops of which something is not known, with the reason.
    """

    unordered: list[Unordered] = field(default_factory=list)
    unknown: dict[tuple[Op, str], None] = field(default_factory=dict)

    @property
    def is_proven(self) -> bool:
        """Whether every access is proven to be in order."""
        return not self.unordered and not self.unknown


def analyze(
    function: Op,
    furthest: int = 1,
    global_memory: GlobalMemory | None = None,
    use: PipelineUse | None = None,
) -> Analysis:
    """Find the accesses of tiles that are not in order.

    Args:
        function: the function.
        furthest: groups of copies and of mma are told apart up to this many groups back, even if no wait
            of the function leaves as many pending.
        global_memory: arrays whose accesses are put in order, too; by default none.
        use: how its threads use pipelines, if that is known from an earlier question.

    Raises:
        OpError: if the function breaks a rule that no order of accesses mends.
    """
    blocks = blocks_of(function)
    if len(blocks) != 1:
        return Analysis(unknown={(function, SEVERAL_BLOCKS): None} if blocks else {})
    if has_pipelines(function):
        findings = _Unproven()
        follow_pipelines(function, blocks[0], findings, use or PipelineUse(), furthest)
        for write, read in unordered_accesses(global_memory, function) if global_memory else ():
            findings.analysis.unknown[read, _refusal(write)] = None
        return findings.analysis
    program = translate(function, blocks, global_memory)
    check_written(program)
    return _of_program(function, replace(program, furthest=max(program.furthest, furthest)))


def is_in_order(
    function: Op,
    furthest: int = 1,
    global_memory: GlobalMemory | None = None,
    use: PipelineUse | None = None,
) -> bool:
    """Whether every access of tiles is proven to be in order; this ends with the first that is not.

    Args:
        function, furthest, global_memory, use: as for `analyze`.
    """
    blocks = blocks_of(function)
    if len(blocks) != 1 or not has_pipelines(function):
        return analyze(function, furthest, global_memory).is_proven
    try:
        follow_pipelines(function, blocks[0], _Strict(), use or PipelineUse(), furthest)
    except OpError:
        return False
    return not any(unordered_accesses(global_memory, function) if global_memory else ())


def _of_program(function: Op, program: Program) -> Analysis:
    proof = prove(function, program)
    unknown = dict.fromkeys((*proof.skipped.items(), *program.unknown.items()))
    unordered: dict[tuple[Op, Op, tuple[Need, ...]], Unordered] = {}
    for each in proof.hazards:
        key = each.op, each.earlier, report.needs(each)
        if key not in unordered:
            unordered[key] = Unordered(*key, report.remark(each))
    return Analysis(list(unordered.values()), unknown)


def _refusal(write: Op) -> str:
    """Return why a read of an array in a kernel with partitions is not put in order."""
    return (
        f"it reads an array that the {report.at(write)} writes; in kernels with pipelines or partitions "
        f"put {SemaphoreArriveOp.OPERATION_NAME} or a barrier between them, and let each warpgroup read "
        "rows that it writes itself"
    )


class _Unproven(Findings):
    """Findings of which those that an order of accesses mends are kept, and not raised."""

    def __init__(self) -> None:
        super().__init__()
        self.analysis = Analysis()

    def remark(
        self, op: Op, reason: str, state: State | None = None, order: Order | None = None
    ) -> None:
        if state is None or not state.reported:
            if order is None:
                self.analysis.unknown[op, reason] = None
            else:
                at = order.before or op
                self.analysis.unordered.append(Unordered(at, order.earlier, order.needs, reason))
        super().remark(op, reason, state, order)

    def error(
        self,
        op: Op,
        message: str,
        certain: bool,
        state: State | None = None,
        order: Order | None = None,
    ) -> None:
        super().error(op, message, certain and order is None, state, order)


class _Strict(Findings):
    """Findings of which the first one ends the search."""

    def remark(
        self, op: Op, reason: str, state: State | None = None, order: Order | None = None
    ) -> None:
        raise OpError(op, reason)
