"""Convergent threads: threads that execute together, how they diverge and how they reconverge.

Convergent threads are at the same position of the program. They split at a branch whose condition
differs between them. Threads of one warp reconverge where the branch ends, as on the hardware. Whole
warps that may have to wait for others diverge for good, and merge at an instruction that needs them all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import Stop
from .lanes import Lanes, mask_of_warps, partial_warps
from .program import Block, Instruction
from .values import MemRef, Registers

if TYPE_CHECKING:
    from .cta import Cta

#: Moves convergent threads to one side of a branch.
Action = Callable[["ConvergentThreads"], None]


@dataclass
class Frame:
    """A position within a region.

    Attributes:
        block: the basic block.
        index: the next instruction of the block.
        leave: called with the threads and the terminator's operands at the end of the region.
        until: the basic block at which threads that split within this frame reconverge.
    """

    block: Block
    index: int = 0
    leave: Callable[[ConvergentThreads, tuple[Any, ...]], None] | None = None
    until: Block | None = None


class ConvergentThreads:
    """Threads that execute together.

    Attributes:
        cta: the CTA of the threads.
        lanes: the threads.
        frames: their position: a frame for each region, outermost first.
        parent: the convergent threads that continue when these and their siblings have reconverged.
        children: how many sets of convergent threads must finish before these continue.
        blocked: returns whether the threads can continue; None if they do not wait.
        waiting: the thing that they wait for, for messages.
        current: the instruction that they execute.
    """

    def __init__(self, cta: Cta, lanes: Lanes, frames: list[Frame]) -> None:
        self.cta = cta
        self.lanes = lanes
        self.frames = frames
        self.parent: ConvergentThreads | None = None
        self.children = 0
        self.blocked: Callable[[], bool] | None = None
        self.waiting: str | Callable[[], str] = ""
        self.current: Instruction = None  # type: ignore[assignment]

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

    def run(self, most: int = -1) -> None:
        """Execute instructions until the threads must wait, or are done, or have executed `most`; -1 is
        as many as they can."""
        values = self.cta.values
        while self.frames and self.blocked is None and most:
            most -= 1
            frame = self.frames[-1]
            instruction = frame.block.instructions[frame.index]
            frame.index += 1
            self.current = instruction
            if not (instruction.plain and values.compute(instruction, self.lanes)):
                self._execute(instruction)

    def _execute(self, instruction: Instruction) -> None:
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
                value if type(value) is np.ndarray else self.checked(value) for value in operands
            ]
            computed = instruction.step(*operands)
        results = instruction.results
        if len(results) == 1:
            values.write(results[0], self.lanes, computed)
        else:
            self.write_all(results, computed)

    def checked(self, value: Any) -> Any:
        """Check that a value is neither poison nor in flight, and return it.

        Raises:
            Stop: if it is poison; this is reported.
        """
        if isinstance(value, np.ndarray | MemRef):
            return value
        if isinstance(value, Registers):
            self.cta.check_registers(self, value)
            return value.data[:, 0] if value.data.shape[1] == 1 else value.data
        if isinstance(value, tuple):
            return tuple(self.checked(part) for part in value)
        self.cta.report_poison(self)
        raise Stop

    def wait(
        self, ready: Callable[[], bool], words: str | Callable[[], str], again: bool = False
    ) -> None:
        """Make these threads wait.

        Args:
            ready: returns whether they may continue.
            words: the thing that they wait for, for messages; a function returns it as it is when all
                wait.
            again: whether they then execute the instruction again.
        """
        self.blocked, self.waiting = ready, words
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
        until: Block | None = None,
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
        taken = [(where(condition), if_true), (where(~condition), if_false)]
        if not waits or not self.lanes.whole_warps:
            self._split(taken, side_frames, reconverge, until)
            return
        # Warps whose threads all take the same side do not wait for others.
        partial = np.concatenate([partial_warps(mask) for mask, _ in taken])
        mixed = mask_of_warps(partial, len(self.lanes.mask))
        paths = [(mask & ~mixed, action) for mask, action in taken if (mask & ~mixed).any()]
        split_sides = [(mask & mixed, action) for mask, action in taken if (mask & mixed).any()]
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
        """New convergent threads, some of these, at the same position."""
        other = self.cta.add(lanes, [replace(frame) for frame in self.frames])
        other.parent, other.current = self.parent, self.current
        if self.parent:
            self.parent.children += 1
        return other

    def _split(
        self,
        sides: Sequence[tuple[np.ndarray, Action]],
        side_frames: int,
        reconverge: Action,
        until: Block | None,
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
