"""The state of a launch: its running cluster, the CTAs, and their threads that execute together.

Convergent threads are at the same position of the program. They split at a branch whose condition
differs between them. Threads of one warp reconverge where the branch ends, as on the hardware. Whole
warps that may have to wait for others diverge for good, and merge at an instruction that needs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NoReturn

import numpy as np

from ..bindings.diagnostics import format_location
from .errors import Report, Stop, Violation, ViolationKind
from .kernel import DecodedBlock, DecodedKernel, ExecutableOp
from .lanes import WARP, Lanes, mask_of_warps, partial_warps
from .memory import SHARED_BASE, Bytes, GlobalAddressSpace
from .rules.global_order import GlobalOrder
from .rules.shadow import Shadow
from .rules.vector_clocks import VectorClocks
from .rules.wgmma_groups import WgmmaGroups
from .tensor_map import TensorMap
from .values import MemRef, RegisterStruct, ThreadValues

#: Columns of the vector clocks for each CTA: mbarriers at which bulk copies complete, and threads that
#: issue tcgen05.mma.
_COLUMNS = 64

#: Moves convergent threads to one side of a branch.
Action = Callable[["ConvergentThreads"], None]


@dataclass(frozen=True)
class LaunchState:
    """State that all CTAs of a launch share.

    Attributes:
        grid: CTAs along x, y, z.
        cluster: CTAs of a cluster along x, y, z.
        size: threads of a CTA along x, y, z.
        shared_end: the address after the CTA's shared memory.
        dynamic_start: the address of dynamic shared memory.
        symbols: addresses of the module's variables in shared memory, by name.
        memory: global memory.
        tensor_maps: by the address that is the kernel's argument.
        order: the order of accesses of different clusters to global memory.
    """

    grid: tuple[int, int, int]
    cluster: tuple[int, int, int]
    size: tuple[int, int, int]
    shared_end: int
    dynamic_start: int
    symbols: dict[str, int]
    memory: GlobalAddressSpace
    tensor_maps: dict[int, TensorMap]
    order: GlobalOrder

    @property
    def threads(self) -> int:
        """Threads of a CTA."""
        return prod(self.size)


@dataclass
class RegionFrame:
    """A position within a region.

    Attributes:
        block: the basic block.
        index: the next instruction of the block.
        leave: called with the threads and the terminator's operands at the end of the region.
        until: the basic block at which threads that split within this frame reconverge.
    """

    block: DecodedBlock
    index: int = 0
    leave: Callable[[ConvergentThreads, tuple[Any, ...]], None] | None = None
    until: DecodedBlock | None = None


class ConvergentThreads:
    """Threads that execute together.

    Attributes:
        cta: the CTA of the threads.
        lanes: the threads.
        frames: their position: a frame for each region, outermost first.
        parent: the convergent threads that continue when these and their siblings have reconverged.
        children: how many sets of convergent threads must finish before these continue.
        blocked: returns whether the threads can continue; None if they do not wait.
        waiting: a description of what they wait for, for messages.
        current: the instruction that they execute.
    """

    def __init__(self, cta: Cta, lanes: Lanes, frames: list[RegionFrame]) -> None:
        self.cta = cta
        self.lanes = lanes
        self.frames = frames
        self.parent: ConvergentThreads | None = None
        self.children = 0
        self.blocked: Callable[[], bool] | None = None
        self.waiting: str | Callable[[], str] = ""
        self.current: ExecutableOp = None  # type: ignore[assignment]

    @property
    def threads(self) -> np.ndarray:
        """The threads by their numbers in the cluster, which index `VectorClocks` and `Shadow`."""
        return self.lanes.threads + self.cta.first_thread

    # -- values ------------------------------------------------------------------------------------

    def read(self, number: int) -> Any:
        """Return a value of these threads."""
        return self.cta.values.read(number, self.lanes)

    def write(self, number: int, value: Any) -> None:
        """Set a value of these threads."""
        self.cta.values.write(number, self.lanes, value)

    def write_all(self, numbers: Sequence[int], values: Sequence[Any]) -> None:
        """Set several values of these threads."""
        for number, value in zip(numbers, values, strict=True):
            self.write(number, value)

    def broadcast(self, array: np.ndarray) -> np.ndarray:
        """Broadcast an array of one row, or of a row for each thread, to a row for each thread."""
        if len(array) == self.lanes.count:
            return array
        return array.repeat(self.lanes.count, axis=0)

    def part(self, rows: np.ndarray) -> ConvergentThreads:
        """Return some of these threads, for a predicated instruction that waits for nothing.

        Args:
            rows: bool[threads], a row for each of these threads.
        """
        part = ConvergentThreads(self.cta, Lanes(self.lanes.where(rows)), self.frames)
        part.current = self.current
        return part

    # -- running -----------------------------------------------------------------------------------

    def run(self, limit: int = -1) -> None:
        """Execute instructions until the threads must wait or have returned, or have executed `limit`; -1
        is no limit."""
        values = self.cta.values
        while self.frames and self.blocked is None and limit:
            limit -= 1
            frame = self.frames[-1]
            instruction = frame.block.instructions[frame.index]
            frame.index += 1
            self.current = instruction
            if not (instruction.plain and values.compute(instruction, self.lanes)):
                self._execute(instruction)

    def _execute(self, instruction: ExecutableOp) -> None:
        if instruction.collective and not self.cta.gather(self):
            return
        values, lanes = self.cta.values, self.lanes
        operands = [values.read(number, lanes) for number in instruction.operands]
        if instruction.raw:
            computed = instruction.step(self, *operands)
            if instruction.controls or computed is None:
                return
        else:
            operands = [
                value if type(value) is np.ndarray else self.check_value(value)
                for value in operands
            ]
            computed = instruction.step(*operands)
        results = instruction.results
        if len(results) == 1:
            values.write(results[0], self.lanes, computed)
        else:
            self.write_all(results, computed)

    def check_value(self, value: Any) -> Any:
        """Check that a value is neither poison nor in flight, and return it.

        Raises:
            Stop: if it is poison; this is reported.
        """
        if isinstance(value, np.ndarray | MemRef):
            return value
        if isinstance(value, RegisterStruct):
            self.cta.check_registers(self, value)
            return value.data[:, 0] if value.data.shape[1] == 1 else value.data
        if isinstance(value, tuple):
            return tuple(self.check_value(part) for part in value)
        self.cta.report_poison(self)
        raise Stop

    def wait(
        self, ready: Callable[[], bool], description: str | Callable[[], str], again: bool = False
    ) -> None:
        """Make these threads wait.

        Args:
            ready: returns whether they may continue.
            description: of what they wait for, for messages; or a function that returns it, called when
                all threads wait.
            again: whether they then execute the instruction again.
        """
        self.blocked, self.waiting = ready, description
        if again:
            self.repeat()

    def repeat(self) -> None:
        """Execute the current instruction again."""
        self.frames[-1].index -= 1

    # -- divergence and reconvergence --------------------------------------------------------------

    def branch(
        self,
        condition: np.ndarray,
        if_true: Action,
        if_false: Action,
        waits: bool,
        side_frames: int,
        reconverge: Action,
        until: DecodedBlock | None = None,
    ) -> None:
        """Send the threads to the sides of a branch.

        Args:
            condition: bool[threads], or of a single row.
            if_true, if_false: move threads to each side.
            waits: whether threads may wait for others before the sides reconverge.
            side_frames: how many frames, counted from the innermost, belong to the sides alone.
            reconverge: moves the threads, without those frames, to the reconvergence point.
            until: the basic block of the reconvergence point, if it is the start of one.
        """
        count = np.count_nonzero(condition)
        if count in (0, len(condition)):
            (if_true if count else if_false)(self)
            return
        where = self.lanes.where
        sides = [(where(condition), if_true), (where(~condition), if_false)]
        if not waits or not self.lanes.whole_warps:
            self._split(sides, side_frames, reconverge, until)
            return
        # Warps whose threads all take the same side do not wait for others.
        partial = np.concatenate([partial_warps(mask) for mask, _ in sides])
        mixed = mask_of_warps(partial, len(self.lanes.mask))
        paths = [(mask & ~mixed, action) for mask, action in sides if (mask & ~mixed).any()]
        split_sides = [(mask & mixed, action) for mask, action in sides if (mask & mixed).any()]
        if split_sides:
            inside = self.lanes.mask & mixed
            paths.append(
                (
                    inside,
                    lambda convergent: convergent._split(
                        split_sides, side_frames, reconverge, until
                    ),
                )
            )
        self.diverge(paths)

    def diverge(self, paths: Sequence[tuple[np.ndarray, Action]]) -> None:
        """Send threads to paths that need not reconverge; `self` takes the first path."""
        others = [self._copy(Lanes(mask)) for mask, _ in paths[1:]]
        self.lanes = Lanes(paths[0][0])
        for convergent, (_, action) in zip([self, *others], paths, strict=True):
            action(convergent)

    def _copy(self, lanes: Lanes) -> ConvergentThreads:
        """Return new convergent threads: some of these, at the same position."""
        copy = self.cta.add(lanes, [replace(frame) for frame in self.frames])
        copy.parent, copy.current = self.parent, self.current
        if self.parent:
            self.parent.children += 1
        return copy

    def _split(
        self,
        sides: Sequence[tuple[np.ndarray, Action]],
        side_frames: int,
        reconverge: Action,
        until: DecodedBlock | None,
    ) -> None:
        """Run each side as separate convergent threads, and continue when all have reconverged."""
        inner = self.frames[len(self.frames) - side_frames :]
        if inner and until:
            inner = [replace(frame, until=until) for frame in inner]
        del self.frames[len(self.frames) - side_frames :]
        self.children = len(sides)
        for mask, action in sides:
            child = self.cta.add(Lanes(mask), [replace(frame) for frame in inner])
            child.parent = self
            child.current = self.current
            action(child)
            child.retire_if_done()
        reconverge(self)
        self.wait(lambda: self.children == 0, "the threads that it split from")

    def retire_if_done(self) -> None:
        """Remove the threads from the CTA if they have reached the end of their frames."""
        if not self.frames and not self.children:
            self.cta.remove(self)

    def can_merge(self, other: ConvergentThreads) -> bool:
        """Whether the other threads are at the same instruction, so that both can be merged."""
        return (
            self.current is other.current
            and self.parent is other.parent
            and [frame.block for frame in self.frames] == [frame.block for frame in other.frames]
        )

    def join(self, other: ConvergentThreads) -> None:
        """Merge the other threads, which are at the same position, into these."""
        self.lanes = Lanes(self.lanes.mask | other.lanes.mask)
        if self.parent:
            self.parent.children -= 1
        self.cta.convergent_groups.remove(other)


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
        clocks, groups: the vector clocks of the cluster, and the wgmma groups.
        alive: bool[threads], the threads that have not returned.
        convergent_groups: the threads, in sets that execute together.
        state: state that a module keeps for the CTA, by the module's key.
        incoming: asynchronous accesses to its memory: arrivals of threads of other CTAs, bulk copies and
            mma of the peer CTA. For each such thread or mbarrier (its column of the clocks), the epoch
            of the last one, and the number of its op.
        at_return: called when threads have returned.
        at_exit: checks that run when the last thread returns; called with its convergent threads.
        violations: the violations, one for each kind and location.
    """

    def __init__(
        self,
        kernel: DecodedKernel,
        launch: LaunchState,
        cluster: Cluster,
        rank: int,
        index: tuple[int, int, int],
    ) -> None:
        threads = launch.threads
        self.kernel, self.launch, self.index, self.threads = kernel, launch, index, threads
        self.cluster, self.rank, self.first_thread = cluster, rank, rank * threads
        self.values = ThreadValues(kernel.values, threads)
        self.clocks = cluster.clocks
        self.groups = WgmmaGroups(-(-threads // WARP))
        self.shared = Bytes(SHARED_BASE, launch.shared_end - SHARED_BASE)
        thread_numbers = range(self.first_thread, self.first_thread + threads)
        self.shadow = Shadow(
            self.shared, self.clocks, self.groups, kernel.locations, thread_numbers
        )
        self.alive = np.ones(threads, bool)
        self.convergent_groups: list[ConvergentThreads] = []
        self.state: dict[str, Any] = {}
        self.incoming: dict[int, tuple[int, int]] = {}
        self.at_return: list[Callable[[], None]] = []
        self.at_exit: list[Callable[[ConvergentThreads], None]] = []
        self.violations: dict[tuple[ViolationKind, str], Violation] = {}

    # -- running -----------------------------------------------------------------------------------

    def start(self, arguments: list[Any]) -> None:
        """Start all threads at the first op of the kernel."""
        entry = self.kernel.body.entry
        lanes = Lanes(np.ones(self.threads, bool))
        for number, value in zip(entry.arguments, arguments, strict=True):
            self.values.write(number, lanes, value)
        self.add(lanes, [RegionFrame(entry)])

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

    def resume(self, convergent: ConvergentThreads, limit: int = -1) -> bool:
        """Run threads until they must wait, or have executed `limit` instructions; -1 is no limit. Return
        whether they made progress.

        Raises:
            EmulationError, Stop: as for `advance`.
        """
        if convergent.blocked is not None:
            if not convergent.blocked():
                return False
            convergent.blocked = None
        convergent.run(limit)
        convergent.retire_if_done()
        return True

    def add(self, lanes: Lanes, frames: list[RegionFrame]) -> ConvergentThreads:
        """Add a set of convergent threads at the position `frames`."""
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
            running = ancestor.lanes.mask & self.alive
            if running.any():
                ancestor.lanes = Lanes(running)
            else:
                ancestor.frames.clear()
            ancestor = ancestor.parent
        for complete_barriers in self.at_return:
            complete_barriers()
        if not self.alive.any():
            self._check_incoming(convergent)
            for check in self.at_exit:
                check(convergent)

    def merge(self, convergent_groups: list[ConvergentThreads]) -> None:
        """Merge those convergent threads that are at the same position."""
        merged: list[ConvergentThreads] = []
        for convergent in convergent_groups:
            same = next((other for other in merged if convergent.can_merge(other)), None)
            if same:
                same.join(convergent)
            else:
                merged.append(convergent)

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
            incomplete = convergent.lanes.mask & ~whole
            convergent.diverge(
                [(whole, lambda complete: None), (incomplete, ConvergentThreads.repeat)]
            )
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
        """Note an access to the CTA's memory that another CTA issues, or that is asynchronous: an
        arrival or a load, a bulk copy that completes at an mbarrier, or an mma of the peer CTA.

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
            missing = (barrier and barrier.early(self.kernel.locations)) or (
                "a wait for that mbarrier, or nvvm.cluster.arrive and nvvm.cluster.wait, are missing "
                "before it"
            )
            self.report_at(
                convergent,
                ViolationKind.EXITED,
                f"the last thread{self.label} returns, but what "
                f"{format_location(self.kernel.locations[op])} does in its memory may still be under "
                f"way: {missing}",
            )

    def report_at(self, convergent: ConvergentThreads, kind: ViolationKind, message: str) -> None:
        """Record a violation at the current instruction of convergent threads, once for each kind."""
        violation = Violation(kind, convergent.current.location, message, self.index)
        self.violations.setdefault(violation.place, violation)

    def reporter(self, convergent: ConvergentThreads) -> Report:
        """Return a function that records violations at the current instruction."""
        return lambda kind, message: self.report_at(convergent, kind, message)

    def check_registers(self, convergent: ConvergentThreads, registers: RegisterStruct) -> None:
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


class Cluster:
    """A cluster while it runs; a launch without clusters has clusters of one CTA.

    Attributes:
        ctas: its CTAs, by rank.
        clocks: the vector clocks; thread t of rank r has the number r * threads + t.
        state: state that a module keeps for the cluster, by the module's key.
    """

    def __init__(
        self, kernel: DecodedKernel, launch: LaunchState, index: tuple[int, int, int]
    ) -> None:
        """Make the cluster whose first CTA has the given index."""
        nx, ny, _ = launch.cluster
        size = prod(launch.cluster)
        columns = _COLUMNS * size if kernel.tensor_maps or kernel.tracks else 0
        self.clocks = VectorClocks(size * launch.threads, columns)
        self.ctas: list[Cta] = []
        for rank in range(size):
            x, y, z = rank % nx, rank // nx % ny, rank // (nx * ny)
            cta_index = index[0] + x, index[1] + y, index[2] + z
            self.ctas.append(Cta(kernel, launch, self, rank, cta_index))
        self.state: dict[str, Any] = {}

    @property
    def violations(self) -> list[Violation]:
        """The violations of all CTAs."""
        return [violation for cta in self.ctas for violation in cta.violations.values()]

    def discard(self) -> None:
        """Free the memory of the cluster and of its CTAs. They refer to each other: their arrays, often
        megabytes, would else stay until Python collects cycles."""
        for part in (*self.ctas, self):
            vars(part).clear()

    def report_deadlock(self) -> NoReturn:
        """Report that all threads wait for ever, and stop."""
        stuck = [s for cta in self.ctas for s in cta.convergent_groups if not s.children]
        waits = "; ".join(
            f"{convergent.lanes}{convergent.cta.label} at "
            f"{format_location(convergent.current.location)} for {_describe_wait(convergent)}"
            for convergent in stuck
        )
        none_returned = all(cta.alive.all() for cta in self.ctas)
        suffix = "" if none_returned else "; the other threads have returned"
        first = stuck[0]
        message = f"all threads wait for ever: {waits}{suffix}"
        first.cta.report_at(first, ViolationKind.DEADLOCK, message)
        raise Stop


def _describe_wait(convergent: ConvergentThreads) -> str:
    """Describe what threads wait for."""
    waiting = convergent.waiting
    return waiting if isinstance(waiting, str) else waiting()
