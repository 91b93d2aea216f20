"""A CTA: its threads, its shared memory, and the rules that they must keep."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..dialect.diagnostics import format_location
from .convergent import ConvergentThreads, Frame
from .errors import Stop, Violation, ViolationKind
from .lanes import WARP, Lanes
from .memory import SHARED_BASE, Bytes
from .program import Program
from .rules.barriers import Barriers
from .rules.shadow import Report, Shadow
from .rules.wgmma_groups import WgmmaGroups
from .values import Registers, Values

if TYPE_CHECKING:
    from .cluster import Cluster
    from .launch import Launch


class Cta:
    """One CTA of a grid while it runs.

    Attributes:
        launch: what all CTAs share: the grid, global memory.
        cluster: the CTAs that run together with it.
        rank: its number among them.
        index: the CTA's indices along x, y, z.
        threads: how many threads it has.
        first: the number in the cluster of its thread 0.
        values: their SSA values.
        shared, shadow: the CTA's shared memory and its history.
        order, groups, barriers: who has synchronised with whom; the order is the cluster's.
        convergent_groups: the threads, in sets that run together.
        state: what an op's file keeps for the CTA, by the file's own key.
        sent: for each thread of another CTA, or mbarrier, whose arrivals, bulk copies and products
            come to its memory, the last epoch of one, and the op's number.
        at_exit: what is checked when the last thread returns, called with its convergent.
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
        self.cluster, self.rank, self.first_thread = cluster, rank, rank * threads
        self.values = Values(program.values, threads)
        self.clocks = cluster.clocks
        self.groups = WgmmaGroups(-(-threads // WARP))
        self.shared = Bytes(SHARED_BASE, launch.shared_end - SHARED_BASE)
        own = range(self.first_thread, self.first_thread + threads)
        self.shadow = Shadow(self.shared, self.clocks, self.groups, program.locations, own)
        self.barriers = Barriers(self)
        self.alive = np.ones(threads, bool)
        self.convergent_groups: list[ConvergentThreads] = []
        self.state: dict[str, Any] = {}
        self.incoming: dict[int, tuple[int, int]] = {}
        self.at_exit: list[Callable[[ConvergentThreads], None]] = []
        self.found: dict[tuple[ViolationKind, str], Violation] = {}

    # -- running -----------------------------------------------------------------------------------

    def start(self, arguments: list[Any]) -> None:
        """Brings all threads to the kernel's first op."""
        entry = self.program.body.entry
        everyone = Lanes(np.ones(self.threads, bool))
        for number, value in zip(entry.arguments, arguments, strict=True):
            self.values.write(number, everyone, value)
        self.add(everyone, [Frame(entry)])

    def advance(self) -> bool:
        """Runs each convergent until it must wait; whether any could go on.

        Raises:
            EmulationError: where an op is used in a way that the emulator does not know.
            Stop: where nothing sensible can follow a violation.
        """
        progress = False
        for convergent in list(self.convergent_groups):
            if convergent not in self.convergent_groups:
                continue
            if convergent.blocked is not None:
                if not convergent.blocked():
                    continue
                convergent.blocked = None
            progress = True
            convergent.run()
            convergent.retire_if_done()
        return progress

    def add(self, lanes: Lanes, frames: list[Frame]) -> ConvergentThreads:
        """A new convergent."""
        convergent = ConvergentThreads(self, lanes, frames)
        self.convergent_groups.append(convergent)
        return convergent

    def remove(self, convergent: ConvergentThreads) -> None:
        """Takes out a convergent that is done; its parent may go on."""
        if convergent in self.convergent_groups:
            self.convergent_groups.remove(convergent)
            if convergent.parent:
                convergent.parent.children -= 1

    def finish(self, convergent: ConvergentThreads) -> None:
        """The threads of a convergent return from the kernel."""
        self.alive[convergent.lanes.index] = False
        convergent.frames.clear()
        ancestor = convergent.parent
        while ancestor:
            left = ancestor.lanes.mask & self.alive
            if left.any():
                ancestor.lanes = Lanes(left)
            else:
                ancestor.frames.clear()
            ancestor = ancestor.parent
        self.barriers.threads_returned()
        self.cluster.barrier.pass_if_complete()
        if not self.alive.any():
            self._check_incoming(convergent)
            for check in self.at_exit:
                check(convergent)

    def meet(self, convergent_groups: list[ConvergentThreads]) -> None:
        """Makes one convergent of those at the same place."""
        kept: list[ConvergentThreads] = []
        for convergent in convergent_groups:
            same = next((other for other in kept if convergent.can_merge(other)), None)
            if same:
                same.join(convergent)
            else:
                kept.append(convergent)

    def gather(self, convergent: ConvergentThreads) -> bool:
        """Whether a convergent has whole warpgroups; it waits for the rest of them if it has not."""
        if convergent.lanes.whole_warpgroups:
            return True
        name = convergent.current.name
        if not convergent.lanes.whole_warps:
            self.report_at(
                convergent,
                ViolationKind.DIVERGENT,
                f"'{name}' is executed by {convergent.lanes}, a part of a warp; all threads of a "
                "warpgroup must execute it together",
            )
            raise Stop
        for other in self.state.setdefault("gathering", []):
            if convergent.can_merge(other):
                convergent.join(other)
        gathering = self.state["gathering"] = [
            other for other in self.state["gathering"] if other in self.convergent_groups
        ]
        if convergent.lanes.whole_warpgroups:
            return True
        whole = convergent.lanes.in_whole_warpgroups
        if whole.any():
            # Those that are complete do not wait for warps of another warpgroup.
            rest = convergent.lanes.mask & ~whole
            convergent.diverge([(whole, lambda complete: None), (rest, ConvergentThreads.repeat)])
            return True
        gathering.append(convergent)
        convergent.wait(lambda: False, f"the other warps of its warpgroup at '{name}'", again=True)
        return False

    # -- rules -------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """Which CTA it is, in words that follow others; nothing if it is alone."""
        return f" of CTA {self.rank} of the cluster" if len(self.cluster.ctas) > 1 else ""

    def note_incoming(self, convergent: ConvergentThreads, agent: int) -> None:
        """Notes that an arrival of a thread, a bulk copy that completes at an mbarrier, or the products
        of a thread of the other CTA of a pair, come to the CTA's memory.

        Args:
            convergent: who sends it.
            agent: the thread, or the column in `VectorClocks` of the mbarrier, or of the thread's products.
        """
        if not self.alive.any():
            convergent.cta.report_at(
                convergent,
                ViolationKind.EXITED,
                f"reaches the memory of CTA {self.rank} of the cluster, whose threads have all "
                "returned: nvvm.cluster.arrive and nvvm.cluster.wait are missing before they return",
            )
        self.incoming[agent] = int(self.clocks.epoch[agent]), convergent.current.number

    def _check_incoming(self, convergent: ConvergentThreads) -> None:
        """Checks that the threads, who have all returned, knew of all that came to the CTA."""
        knew = self.clocks.seen[self.first_thread : self.first_thread + self.threads].max(axis=0)
        late = [op for agent, (epoch, op) in self.incoming.items() if epoch > knew[agent]]
        if late:
            where = format_location(self.program.locations[late[0]])
            self.report_at(
                convergent,
                ViolationKind.EXITED,
                f"the last thread{self.label} returns, but what {where} does in its memory may still be "
                "under way: a wait for that mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait, are "
                "missing before it",
            )

    def report_at(self, convergent: ConvergentThreads, kind: ViolationKind, message: str) -> None:
        """Notes a violation at the instruction that a convergent executes, once for each kind."""
        violation = Violation(kind, convergent.current.location, message, self.index)
        self.found.setdefault(violation.place, violation)

    def reporter(self, convergent: ConvergentThreads) -> Report:
        """Notes violations at a convergent's instruction."""
        return lambda kind, message: self.report_at(convergent, kind, message)

    def check_registers(self, convergent: ConvergentThreads, registers: Registers) -> None:
        """Checks that registers may be looked at by the threads of a convergent."""
        if not registers.defined.all():
            self.report_poison(convergent)
        pending = registers.pending
        if not pending.any():
            return
        warps = convergent.lanes.threads // WARP
        if (pending >= self.groups.current[warps]).any():
            missing = "smem.wait (wgmma.commit_group and wgmma.wait_group) is missing before it"
        elif (pending > self.groups.done[warps]).any():
            missing = "smem.wait (wgmma.wait_group) is missing before it"
        else:
            return
        self.report_at(
            convergent,
            ViolationKind.ACCUMULATOR_IN_FLIGHT,
            f"reads registers of an accumulator that a wgmma may still be writing: {missing}",
        )

    def report_poison(self, convergent: ConvergentThreads) -> None:
        """Notes that a value was looked at that nothing has defined."""
        self.report_at(
            convergent,
            ViolationKind.POISON,
            "uses a value that is poison: nothing has defined it before",
        )
