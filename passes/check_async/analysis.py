"""What is not proven of a function, as data for `smem-insert-sync`."""

from dataclasses import dataclass, field, replace

from ...bindings.irtypes import Block, Op
from ...dialect.ops import SemaphoreArriveOp
from ...ir.errors import OpError
from ..order import report
from ..order.global_memory import GlobalArrays
from ..order.needs import Need, Unordered
from ..order.prove import check_written, prove
from ..order.translate import translate
from .check import SEVERAL_BLOCKS, blocks_of, has_pipelines
from .pipelines import follow_pipelines
from .pipelines.findings import Findings, StopOn
from .pipelines.global_arrays import unordered_accesses
from .pipelines.kernel import KernelAnalysis


@dataclass
class Analysis:
    """What is not proven about a function.

    Attributes:
        unordered: accesses that are not in order on some path, first found first.
        unknown: other ops of which something is not known, with the reason.
    """

    unordered: list[Unordered] = field(default_factory=list)
    unknown: dict[tuple[Op, str], None] = field(default_factory=dict)

    @property
    def is_proven(self) -> bool:
        """Whether every access is proven to be in order."""
        return not self.unordered and not self.unknown


@dataclass
class Analyzer:
    """Finds the accesses of a function that are not in order, again and again while ops are inserted.

    Attributes:
        function: the function.
        furthest: groups of copies and of mma are told apart up to this many groups back, even if no wait
            of the function leaves as many pending.
        global_memory: arrays in global memory whose accesses are put in order, too; by default none.
    """

    function: Op
    furthest: int = 1
    global_memory: GlobalArrays | None = None
    _kernel: KernelAnalysis | None = field(default=None, init=False)

    def analyze(self) -> Analysis:
        """Return what is not proven.

        Raises:
            OpError: if the function breaks a rule that no synchronization fixes.
        """
        blocks = blocks_of(self.function)
        if len(blocks) != 1:
            return Analysis(unknown={(self.function, SEVERAL_BLOCKS): None} if blocks else {})
        if not has_pipelines(self.function):
            return self._of_program(blocks)
        findings = self._follow(blocks[0], StopOn.UNFIXABLE)
        return Analysis(findings.unordered, findings.unknown)

    def is_in_order(self) -> bool:
        """Whether every access is proven to be in order; the search ends with the first that is not."""
        blocks = blocks_of(self.function)
        if len(blocks) != 1 or not has_pipelines(self.function):
            return self.analyze().is_proven
        try:
            self._follow(blocks[0], StopOn.UNPROVEN)
        except OpError:
            return False
        return True

    def invalidate(self, op: Op) -> None:
        """Forget what depends on an inserted, removed or changed op."""
        if self._kernel is not None:
            self._kernel.invalidate(op)

    def _follow(self, block: Block, stops_on: StopOn) -> Findings:
        """Return the findings about a function with pipelines or partitions."""
        findings = Findings(stops_on)
        self._kernel = self._kernel or KernelAnalysis(self.function, block, self.furthest)
        follow_pipelines(self._kernel, findings)
        if self.global_memory is not None:
            for write, read in unordered_accesses(self.global_memory, self.function):
                findings.remark(read, _refusal(write))
        return findings

    def _of_program(self, blocks: list[Block]) -> Analysis:
        program = translate(self.function, blocks, self.global_memory)
        check_written(program)
        furthest = max(program.furthest, self.furthest)
        proof = prove(self.function, replace(program, furthest=furthest))
        unknown = dict.fromkeys((*proof.skipped.items(), *program.unknown.items()))
        unordered: dict[tuple[Op, Op, tuple[Need, ...]], Unordered] = {}
        for hazard in proof.hazards:
            key = hazard.op, hazard.earlier, report.needs(hazard)
            if key not in unordered:
                unordered[key] = Unordered(*key, report.remark(hazard))
        return Analysis(list(unordered.values()), unknown)


def analyze(function: Op, global_memory: GlobalArrays | None = None) -> Analysis:
    """Return what is not proven of a function; arguments as for `Analyzer`.

    Raises:
        OpError: if the function breaks a rule that no synchronization fixes.
    """
    return Analyzer(function, global_memory=global_memory).analyze()


def _refusal(write: Op) -> str:
    """Return why a read of an array in a kernel with partitions is not put in order."""
    return (
        f"it reads an array that the {report.label(write)} writes; in kernels with pipelines or "
        f"partitions put {SemaphoreArriveOp.OPERATION_NAME} or a barrier between them, and let each "
        "warpgroup read rows that it writes itself"
    )
