"""A thread block: its threads, its shared memory, and the rules that they must keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dialect.diagnostics import format_location
from .errors import Kind, Stop, Violation
from .lanes import WARP, Lanes
from .memory import SHARED_BASE, Bytes
from .program import Program
from .rules.barriers import Barriers
from .rules.groups import Groups
from .rules.shadow import Report, Shadow
from .strand import Frame, Strand
from .values import Registers, Values

if TYPE_CHECKING:
    from .cluster import Cluster
    from .launch import Launch


class ThreadBlock:
    """One block of a grid while it runs.

    Attributes:
        launch: what all blocks share: the grid, global memory.
        cluster: the blocks that run together with it.
        rank: its number among them.
        index: the block's indices along x, y, z.
        threads: how many threads it has.
        first: the number in the cluster of its thread 0.
        values: their SSA values.
        shared, shadow: the block's shared memory and its history.
        order, groups, barriers: who has synchronised with whom; the order is the cluster's.
        strands: the threads, in sets that run together.
        state: what an op's file keeps for the block, by the file's own key.
        sent: for each thread of another block, or mbarrier, whose arrivals, bulk copies and products
            come to its memory, the last epoch of one, and the op's number.
        at_exit: what is checked when the last thread returns, called with its strand.
        found: the violations, each once for its place.
    """

    def __init__(
        self,
        program: Program,
        launch: Launch,
        cluster: Cluster,
        rank: int,
        index: tuple[int, int, int],
    ) -> None:
        threads = launch.threads
        self.program, self.launch, self.index, self.threads = program, launch, index, threads
        self.cluster, self.rank, self.first = cluster, rank, rank * threads
        self.values = Values(program.values, threads)
        self.order = cluster.order
        self.groups = Groups(-(-threads // WARP))
        self.shared = Bytes(SHARED_BASE, launch.shared_end - SHARED_BASE)
        own = range(self.first, self.first + threads)
        self.shadow = Shadow(self.shared, self.order, self.groups, program.locations, own)
        self.barriers = Barriers(self)
        self.alive = np.ones(threads, bool)
        self.strands: list[Strand] = []
        self.state: dict[str, Any] = {}
        self.sent: dict[int, tuple[int, int]] = {}
        self.at_exit: list[Callable[[Strand], None]] = []
        self.found: dict[tuple[Kind, str], Violation] = {}

    # -- running -----------------------------------------------------------------------------------

    def start(self, arguments: list[Any]) -> None:
        """Brings all threads to the kernel's first op."""
        entry = self.program.body.entry
        everyone = Lanes(np.ones(self.threads, bool))
        for number, value in zip(entry.arguments, arguments, strict=True):
            self.values.write(number, everyone, value)
        self.add(everyone, [Frame(entry)])

    def advance(self) -> bool:
        """Runs each strand until it must wait; whether any could go on.

        Raises:
            EmulationError: where an op is used in a way that the emulator does not know.
            Stop: where nothing sensible can follow a violation.
        """
        progress = False
        for strand in list(self.strands):
            if strand not in self.strands:
                continue
            if strand.blocked is not None:
                if not strand.blocked():
                    continue
                strand.blocked = None
            progress = True
            strand.run()
            strand.retire_if_done()
        return progress

    def add(self, lanes: Lanes, frames: list[Frame]) -> Strand:
        """A new strand."""
        strand = Strand(self, lanes, frames)
        self.strands.append(strand)
        return strand

    def remove(self, strand: Strand) -> None:
        """Takes out a strand that is done; its parent may go on."""
        if strand in self.strands:
            self.strands.remove(strand)
            if strand.parent:
                strand.parent.children -= 1

    def finish(self, strand: Strand) -> None:
        """The threads of a strand return from the kernel."""
        self.alive[strand.lanes.index] = False
        strand.frames.clear()
        ancestor = strand.parent
        while ancestor:
            left = ancestor.lanes.mask & self.alive
            if left.any():
                ancestor.lanes = Lanes(left)
            else:
                ancestor.frames.clear()
            ancestor = ancestor.parent
        self.barriers.someone_left()
        self.cluster.barrier.pass_if_complete()
        if not self.alive.any():
            self._check_sent(strand)
            for check in self.at_exit:
                check(strand)

    def meet(self, strands: list[Strand]) -> None:
        """Makes one strand of those at the same place."""
        kept: list[Strand] = []
        for strand in strands:
            same = next((other for other in kept if strand.beside(other)), None)
            if same:
                same.join(strand)
            else:
                kept.append(strand)

    def gather(self, strand: Strand) -> bool:
        """Whether a strand has whole warpgroups; it waits for the rest of them if it has not."""
        if strand.lanes.whole_warpgroups:
            return True
        name = strand.current.name
        if not strand.lanes.whole_warps:
            self.report_at(
                strand,
                Kind.DIVERGENT,
                f"'{name}' is executed by {strand.lanes}, a part of a warp; all threads of a "
                "warpgroup must execute it together",
            )
            raise Stop
        for other in self.state.setdefault("gathering", []):
            if strand.beside(other):
                strand.join(other)
        gathering = self.state["gathering"] = [
            other for other in self.state["gathering"] if other in self.strands
        ]
        if strand.lanes.whole_warpgroups:
            return True
        whole = strand.lanes.in_whole_warpgroups
        if whole.any():
            # Those that are complete do not wait for warps of another warpgroup.
            rest = strand.lanes.mask & ~whole
            strand.part([(whole, lambda complete: None), (rest, Strand.repeat)])
            return True
        gathering.append(strand)
        strand.wait(lambda: False, f"the other warps of its warpgroup at '{name}'", again=True)
        return False

    # -- rules -------------------------------------------------------------------------------------

    @property
    def named(self) -> str:
        """Which block it is, in words that follow others; nothing if it is alone."""
        return f" of the cluster's block {self.rank}" if len(self.cluster.blocks) > 1 else ""

    def note_sent(self, strand: Strand, agent: int) -> None:
        """Notes that an arrival of a thread, a bulk copy that completes at an mbarrier, or the products
        of a thread of the other block of a pair, come to the block's memory.

        Args:
            strand: who sends it.
            agent: the thread, or the column in `Order` of the mbarrier, or of the thread's products.
        """
        if not self.alive.any():
            strand.block.report_at(
                strand,
                Kind.EXITED,
                f"reaches the memory of the cluster's block {self.rank}, whose threads have all "
                "returned: nvvm.cluster.arrive and nvvm.cluster.wait are missing before they return",
            )
        self.sent[agent] = int(self.order.epoch[agent]), strand.current.number

    def _check_sent(self, strand: Strand) -> None:
        """Checks that the threads, who have all returned, knew of all that came to the block."""
        knew = self.order.seen[self.first : self.first + self.threads].max(axis=0)
        late = [op for agent, (epoch, op) in self.sent.items() if epoch > knew[agent]]
        if late:
            where = format_location(self.program.locations[late[0]])
            self.report_at(
                strand,
                Kind.EXITED,
                f"the last thread{self.named} returns, but what {where} does in its memory may still be "
                "under way: a wait for that mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait, are "
                "missing before it",
            )

    def report_at(self, strand: Strand, kind: Kind, message: str) -> None:
        """Notes a violation at the instruction that a strand executes, once for each kind."""
        violation = Violation(kind, strand.current.location, message, self.index)
        self.found.setdefault(violation.place, violation)

    def reporter(self, strand: Strand) -> Report:
        """Notes violations at a strand's instruction."""
        return lambda kind, message: self.report_at(strand, kind, message)

    def check_registers(self, strand: Strand, registers: Registers) -> None:
        """Checks that registers may be looked at by the threads of a strand."""
        if not registers.defined.all():
            self.found_poison(strand)
        pending = registers.pending
        if not pending.any():
            return
        warps = strand.lanes.threads // WARP
        if (pending >= self.groups.current[warps]).any():
            missing = "smem.wait (wgmma.commit_group and wgmma.wait_group) is missing before it"
        elif (pending > self.groups.done[warps]).any():
            missing = "smem.wait (wgmma.wait_group) is missing before it"
        else:
            return
        self.report_at(
            strand,
            Kind.ACCUMULATOR_IN_FLIGHT,
            f"reads registers of an accumulator that a wgmma may still be writing: {missing}",
        )

    def found_poison(self, strand: Strand) -> None:
        """Notes that a value was looked at that nothing has defined."""
        self.report_at(
            strand, Kind.POISON, "uses a value that is poison: nothing has defined it before"
        )
