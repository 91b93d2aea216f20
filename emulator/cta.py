"""A CTA while it runs: its threads, its shared memory, and the checks of their accesses."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bindings.diagnostics import format_location
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
    """A CTA of a grid while it runs.

    Attributes:
        launch: state that all CTAs share: the grid, global memory.
        cluster: its cluster.
        rank: its rank in the cluster.
        index: the CTA's indices along x, y, z.
        threads: number of threads.
        first_thread: the number of its thread 0 in the cluster.
        values: the SSA values of its threads.
        shared, shadow: its shared memory, and the access history of each byte.
        clocks, groups, barriers: the vector clocks of the cluster, the wgmma groups and the barriers.
        alive: bool[threads], the threads that have not returned.
        convergent_groups: the threads, in sets that execute together.
        state: state that a module keeps for the CTA, by the module's key.
        incoming: asynchronous accesses to its memory: arrivals of threads of other CTAs, bulk copies and
            mma of the peer CTA. For each such thread or mbarrier (its column of the clocks), the epoch
            of the last one, and the number of its op.
        at_exit: checks that run when the last thread returns; called with its convergent threads.
        found: the violations, one for each kind and location.
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
        """Start all threads at the first op of the kernel."""
        entry = self.program.body.entry
        everyone = Lanes(np.ones(self.threads, bool))
        for number, value in zip(entry.arguments, arguments, strict=True):
            self.values.write(number, everyone, value)
        self.add(everyone, [Frame(entry)])

    def advance(self) -> bool:
        """Run each set of convergent threads until it must wait. Return whether any made progress.

        Raises:
            EmulationError: if an op is used in a way that the emulator does not support.
            Stop: if execution cannot continue after a violation.
        """
        progress = False
        for convergent in list(self.convergent_groups):
            if convergent in self.convergent_groups and self.resume(convergent):
                progress = True
        return progress

    def resume(self, convergent: ConvergentThreads, most: int = -1) -> bool:
        """Run threads until they must wait, or have executed `most` instructions; -1 is as many as they
        can. Return whether they made progress.

        Raises:
            EmulationError, Stop: as for `advance`.
        """
        if convergent.blocked is not None:
            if not convergent.blocked():
                return False
            convergent.blocked = None
        convergent.run(most)
        convergent.retire_if_done()
        return True

    def add(self, lanes: Lanes, frames: list[Frame]) -> ConvergentThreads:
        """Add a set of convergent threads at the position that `frames` gives."""
        convergent = ConvergentThreads(self, lanes, frames)
        self.convergent_groups.append(convergent)
        return convergent

    def remove(self, convergent: ConvergentThreads) -> None:
        """Remove convergent threads that are done; their parent may continue."""
        if convergent in self.convergent_groups:
            self.convergent_groups.remove(convergent)
            if convergent.parent:
                convergent.parent.children -= 1

    def finish(self, convergent: ConvergentThreads) -> None:
        """Return the convergent threads from the kernel."""
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

    def merge(self, convergent_groups: list[ConvergentThreads]) -> None:
        """Merge those convergent threads that are at the same position."""
        kept: list[ConvergentThreads] = []
        for convergent in convergent_groups:
            same = next((other for other in kept if convergent.can_merge(other)), None)
            if same:
                same.join(convergent)
            else:
                kept.append(convergent)

    def gather(self, convergent: ConvergentThreads) -> bool:
        """Whether the threads are whole warpgroups; if not, they wait for the other warps of them."""
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
            # Complete warpgroups do not wait for the warps of another warpgroup.
            rest = convergent.lanes.mask & ~whole
            convergent.diverge([(whole, lambda complete: None), (rest, ConvergentThreads.repeat)])
            return True
        gathering.append(convergent)
        convergent.wait(lambda: False, f"the other warps of its warpgroup at '{name}'", again=True)
        return False

    # -- rules -------------------------------------------------------------------------------------

    @property
    def label(self) -> str:
        """The suffix of a message that names the CTA; empty in a cluster of one CTA."""
        return f" of CTA {self.rank} of the cluster" if len(self.cluster.ctas) > 1 else ""

    def note_incoming(self, convergent: ConvergentThreads, column: int) -> None:
        """Note an access of another CTA to the CTA's memory, or an asynchronous one: an arrival or a load
        of a thread of another CTA, a bulk copy that completes at an mbarrier, or an mma of a thread of
        the peer CTA.

        Args:
            convergent: the threads that issue it.
            column: the column in `VectorClocks` of the thread, of the mbarrier, or of the thread's mma.
        """
        if not self.alive.any():
            convergent.cta.report_at(
                convergent,
                ViolationKind.EXITED,
                f"reaches the memory of CTA {self.rank} of the cluster, whose threads have all "
                "returned: nvvm.cluster.arrive and nvvm.cluster.wait are missing before they return",
            )
        self.incoming[column] = int(self.clocks.epoch[column]), convergent.current.number

    def _check_incoming(self, convergent: ConvergentThreads) -> None:
        """Check that all asynchronous accesses to its memory were complete when the threads returned."""
        seen = self.clocks.seen[self.first_thread : self.first_thread + self.threads].max(axis=0)
        late = [
            (column, op) for column, (epoch, op) in self.incoming.items() if epoch > seen[column]
        ]
        if late:
            column, op = late[0]
            barrier = self.shadow.barriers.get(column)
            missing = (barrier and barrier.early(self.program.locations)) or (
                "a wait for that mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait, are missing "
                "before it"
            )
            self.report_at(
                convergent,
                ViolationKind.EXITED,
                f"the last thread{self.label} returns, but what "
                f"{format_location(self.program.locations[op])} does in its memory may still be under "
                f"way: {missing}",
            )

    def report_at(self, convergent: ConvergentThreads, kind: ViolationKind, message: str) -> None:
        """Record a violation at the current instruction of convergent threads, once for each kind."""
        violation = Violation(kind, convergent.current.location, message, self.index)
        self.found.setdefault(violation.place, violation)

    def reporter(self, convergent: ConvergentThreads) -> Report:
        """Return a function that records violations at the current instruction."""
        return lambda kind, message: self.report_at(convergent, kind, message)

    def check_registers(self, convergent: ConvergentThreads, registers: Registers) -> None:
        """Check that registers that the threads read are defined and not in flight."""
        pending, defined = registers.pending, registers.defined
        if np.count_nonzero(defined) != len(defined):
            self.report_poison(convergent)
        if not np.count_nonzero(pending):
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
        """Record the use of a poison value."""
        self.report_at(
            convergent,
            ViolationKind.POISON,
            "uses a value that is poison: nothing has defined it before",
        )
