"""What is not proven of a function, as data for `smem-insert-sync`.

The arrays in global memory that it writes and reads are included: an arrival at a semaphore, or a
barrier, orders them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import gcd

from ...bindings.irtypes import Block, Op, Value
from ...bindings.mlir import ir
from ...dialect.op import SmemOp
from ...dialect.ops import PartitionOp, SemaphoreArriveOp
from ...ir.errors import OpError
from ...ir.kernel import ancestors_of
from ...ir.op_address import OpIdentity
from ..order import report
from ..order.global_memory import GlobalAccess, GlobalArrays
from ..order.needs import Need, Unordered
from ..order.prove import check_written, prove
from ..order.translate import translate
from .check import SEVERAL_BLOCKS, blocks_of, has_pipelines
from .pipelines import follow_pipelines
from .pipelines.findings import Findings, StopOn
from .pipelines.kernel import KernelAnalysis
from .polynomials import Divergence, Polynomial, Symbol, number
from .tile_slices import AxisSlice
from .values import SymbolicValues


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
            for write, read in _unordered_accesses(self.global_memory, self.function):
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


_LOOPS = ("scf.for", "scf.while", "scf.parallel", "scf.forall")


def _unordered_accesses(memory: GlobalArrays, function: Op) -> Iterator[tuple[Op, Op]]:
    """Yield pairs of a write of an array and a read by other threads that no barrier puts in order.

    Args:
        memory: the arrays that a function writes and reads.
        function: the function.
    """
    conflicts = list(memory.conflicts())
    values = SymbolicValues(function) if conflicts else None
    for write, read in conflicts:
        assert values is not None
        if not _is_ordered(write, read, values):
            yield write.op, read.op


def _is_ordered(access: GlobalAccess, other_access: GlobalAccess, values: SymbolicValues) -> bool:
    """Whether a barrier separates two accesses, and each warpgroup of a partition accesses other
    bytes."""
    outer, other_outer = ([a.op.operation, *ancestors_of(a.op)] for a in (access, other_access))
    partition = next((x for x in outer if isinstance(x.opview, PartitionOp)), None)
    if (
        partition is None
        or partition not in other_outer
        or access.asynchronous
        or other_access.asynchronous
    ):
        return False
    common = next(x for x in outer if x in other_outer)
    loops = [x for x in outer[outer.index(common) : outer.index(partition)] if x.name in _LOOPS]
    chains = [x[: x.index(loops[0] if loops else common)] for x in (outer, other_outer)]
    ends = outer[outer.index(common) - 1], other_outer[other_outer.index(common) - 1]
    if ends[0].block != ends[1].block:
        return False
    siblings = [op.operation for op in ends[0].block.operations]
    first, last = sorted(map(siblings.index, ends))
    earlier, later = chains if siblings[first] == ends[0] else chains[::-1]
    # The later one comes before the earlier one of the next iteration.
    between_iterations = [
        *(x for op in later for x in _after(op)),
        *(x for op in earlier for x in _before(op)),
    ]
    return (
        any(map(_is_barrier, siblings[first + 1 : last]))
        and (not loops or any(map(_is_barrier, between_iterations)))
        and _is_by_warpgroup(access.window, other_access.window, partition.opview, values, loops)
    )


def _after(op: Op) -> list[Op]:
    siblings = [x.operation for x in op.block.operations]
    return siblings[siblings.index(op) + 1 :]


def _before(op: Op) -> list[Op]:
    siblings = [x.operation for x in op.block.operations]
    return siblings[: siblings.index(op)]


def _is_barrier(op: Op) -> bool:
    return isinstance(op.opview, SmemOp) and op.opview.effects.barrier is not None


def _is_by_warpgroup(
    window: Value,
    other_window: Value,
    partition: PartitionOp,
    values: SymbolicValues,
    loops: list[Op],
) -> bool:
    """Whether different warpgroups of a partition access different bytes of an array by two windows.

    Args:
        window, other_window: the windows.
        partition: the partition.
        values: the integers of the function.
        loops: the common loops, of which warpgroups may be in different iterations.
    """
    count, symbol = partition.warpgroups.value, values.warpgroup(partition)
    if count == 1:
        return True
    for x, y in zip(_axis_slices(window, values), _axis_slices(other_window, values), strict=False):
        starts = [axis_slice.start for axis_slice in (x, y) if axis_slice.start is not None]
        varies = any(start.varies & {*map(OpIdentity.of, loops)} for start in starts)
        if not varies and x.is_disjoint_between(y, symbol):
            return True
        if not varies and _is_interleaved(x, y, symbol, count):
            return True
    return False


def _is_interleaved(x: AxisSlice, y: AxisSlice, symbol: Symbol, count: int) -> bool:
    """Whether the slices of warpgroups are interleaved: they begin at `count * i + warpgroup` sizes."""
    if x.start is None or y.start is None:
        return False
    first, second = x.start.split(symbol), y.start.split(symbol)
    if first is None or second is None or first[0] != second[0]:
        return False
    between = first[1] - second[1]
    rounds = gcd(*(coefficient for symbols, coefficient in between.terms if symbols))
    return (
        between.divergence <= Divergence.BETWEEN_CTAS
        and not dict(between.terms).get(())
        and max(x.size, y.size) <= first[0]
        and first[0] * count <= rounds
    )


def _axis_slices(window: Value, values: SymbolicValues) -> list[AxisSlice]:
    """Return the slices of a window of an array; none if they are not known."""
    owner = window.owner
    if not isinstance(owner, ir.Block) and owner.name == "memref.transpose":
        owner = owner.operands[0].owner
    if isinstance(owner, ir.Block) or owner.name != "memref.subview":
        return []
    dynamic = ir.ShapedType.get_dynamic_size()
    offset = ir.ShapedType.get_dynamic_stride_or_offset()
    starts = iter(list(owner.operands)[1:])
    slices = []
    for start, size, step in zip(
        *(owner.attributes[f"static_{name}"] for name in ("offsets", "sizes", "strides")),
        strict=True,
    ):
        slice_start: Polynomial = (
            values.polynomial(next(starts)) if start == offset else number(start)
        )
        # A slice of unknown size overlaps with all.
        slices.append(
            AxisSlice(slice_start if dynamic != size and step == 1 else None, size, size + 1)
        )
    return slices
