"""Threads that run together: where they are, and how they part and meet.

A convergent is a set of threads at one place of the program. At a branch on which they disagree it splits.
Threads of one warp meet again where the branch ends, as the hardware makes them; whole warps that may
have to wait for others go their own way, and meet where all of them are needed.
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

#: Moves a convergent to one side of a branch.
Action = Callable[["ConvergentThreads"], None]


@dataclass
class Frame:
    """A place within a region.

    Attributes:
        block: the basic block.
        index: the next instruction.
        leave: called with the convergent and the terminator's operands where the region ends.
        until: the basic block at which threads that split within this frame meet again.
    """

    block: Block
    index: int = 0
    leave: Callable[[ConvergentThreads, tuple[Any, ...]], None] | None = None
    until: Block | None = None


class ConvergentThreads:
    """Threads that run together.

    Attributes:
        cta: their CTA.
        lanes: the threads.
        frames: where they are, outermost first.
        parent: the convergent that goes on when these threads and their siblings have met.
        children: how many convergent_groups this one waits for.
        blocked: whether it can go on; None if it can.
        waiting: what it waits for, in words.
        current: the instruction that is executed.
    """

    def __init__(self, cta: Cta, lanes: Lanes, frames: list[Frame]) -> None:
        self.cta = cta
        self.lanes = lanes
        self.frames = frames
        self.parent: ConvergentThreads | None = None
        self.children = 0
        self.blocked: Callable[[], bool] | None = None
        self.waiting = ""
        self.current: Instruction = None  # type: ignore[assignment]

    @property
    def threads(self) -> np.ndarray:
        """The threads by their numbers in the cluster, as `VectorClocks` and `Shadow` know them."""
        return self.lanes.threads + self.cta.first_thread

    # -- values ------------------------------------------------------------------------------------

    def read(self, number: int) -> Any:
        """A value of these threads."""
        return self.cta.values.read(number, self.lanes)

    def write(self, number: int, value: Any) -> None:
        """Sets a value of these threads."""
        self.cta.values.write(number, self.lanes, value)

    def write_all(self, numbers: Sequence[int], values: Sequence[Any]) -> None:
        """Sets several values."""
        for number, value in zip(numbers, values, strict=True):
            self.write(number, value)

    def broadcast(self, array: np.ndarray) -> np.ndarray:
        """An array with a row for each of these threads."""
        if len(array) == self.lanes.count:
            return array
        return np.broadcast_to(array, (self.lanes.count, *array.shape[1:]))

    # -- running -----------------------------------------------------------------------------------

    def run(self) -> None:
        """Executes instructions until these threads must wait, or are done."""
        while self.frames and self.blocked is None:
            frame = self.frames[-1]
            instruction = frame.block.instructions[frame.index]
            frame.index += 1
            self.current = instruction
            self._execute(instruction)

    def _execute(self, instruction: Instruction) -> None:
        how = instruction.executor
        if instruction.collective and not self.cta.gather(self):
            return
        values = [self.read(number) for number in instruction.operands]
        if how.raw:
            found = instruction.step(self, *values)
            if how.controls or found is None:
                return
        else:
            found = instruction.step(*(self.checked(value) for value in values))
        results = instruction.results
        if len(results) == 1:
            self.write(results[0], found)
        else:
            self.write_all(results, found)

    def checked(self, value: Any) -> Any:
        """A value that is looked at: neither poison nor in flight.

        Raises:
            Stop: if it is poison, which is reported.
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

    def wait(self, ready: Callable[[], bool], words: str, again: bool = False) -> None:
        """Makes these threads wait.

        Args:
            ready: whether they may go on.
            words: what they wait for.
            again: whether the instruction is then executed again.
        """
        self.blocked, self.waiting = ready, words
        if again:
            self.repeat()

    def repeat(self) -> None:
        """Goes back to the instruction that is executed."""
        self.frames[-1].index -= 1

    # -- parting and meeting -----------------------------------------------------------------------

    def branch(
        self,
        sides: Sequence[tuple[np.ndarray, Action]],
        waits: bool,
        own: int,
        meet: Action,
        until: Block | None = None,
    ) -> None:
        """Sends threads to different sides of a branch.

        Args:
            sides: disjoint masks over the CTA that cover these threads, and how to go there.
            waits: whether threads may wait for others before the sides meet.
            own: how many frames, counted from the innermost, belong to the sides alone.
            meet: moves the convergent, without those frames, to where the sides meet.
            until: the basic block at which they meet, if it is one.
        """
        taken = [(mask, action) for mask, action in sides if mask.any()]
        if len(taken) == 1:
            taken[0][1](self)
            return
        if not waits or not self.lanes.whole_warps:
            self._split(taken, own, meet, until)
            return
        # Warps that are of one mind do not wait for others.
        torn = np.concatenate([partial_warps(mask) for mask, _ in taken])
        mixed = mask_of_warps(torn, len(self.lanes.mask))
        ways = [(mask & ~mixed, action) for mask, action in taken if (mask & ~mixed).any()]
        torn_sides = [(mask & mixed, action) for mask, action in taken if (mask & mixed).any()]
        if torn_sides:
            inside = self.lanes.mask & mixed
            ways.append(
                (inside, lambda convergent: convergent._split(torn_sides, own, meet, until))
            )
        self.diverge(ways)

    def diverge(self, ways: Sequence[tuple[np.ndarray, Action]]) -> None:
        """Sends threads on their ways for good; the first way is this convergent's."""
        others = [self._copy(Lanes(mask)) for mask, _ in ways[1:]]
        self.lanes = Lanes(ways[0][0])
        for convergent, (_, action) in zip([self, *others], ways, strict=True):
            action(convergent)

    def _copy(self, lanes: Lanes) -> ConvergentThreads:
        """A convergent of some of these threads at the same place."""
        other = self.cta.add(lanes, [replace(frame) for frame in self.frames])
        other.parent, other.current = self.parent, self.current
        if self.parent:
            self.parent.children += 1
        return other

    def _split(
        self,
        sides: Sequence[tuple[np.ndarray, Action]],
        own: int,
        meet: Action,
        until: Block | None,
    ) -> None:
        """Runs the sides as convergent_groups of their own, and goes on when all have met."""
        inner = self.frames[len(self.frames) - own :]
        if inner and until:
            inner = [replace(frame, until=until) for frame in inner]
        del self.frames[len(self.frames) - own :]
        self.children = len(sides)
        for mask, action in sides:
            child = self.cta.add(Lanes(mask), [replace(frame) for frame in inner])
            child.parent = self
            child.current = self.current
            action(child)
            child.retire_if_done()
        meet(self)
        self.wait(lambda: self.children == 0, "the threads that it split from")

    def retire_if_done(self) -> None:
        """Takes a convergent that has come to its end out of the CTA, and tells its parent."""
        if not self.frames and not self.children:
            self.cta.remove(self)

    def can_merge(self, other: ConvergentThreads) -> bool:
        """Whether another convergent executes the same instruction, and could be one with this."""
        return (
            self.current is other.current
            and self.parent is other.parent
            and [frame.block for frame in self.frames] == [frame.block for frame in other.frames]
        )

    def join(self, other: ConvergentThreads) -> None:
        """Takes over the threads of a convergent at the same position."""
        self.lanes = Lanes(self.lanes.mask | other.lanes.mask)
        if self.parent:
            self.parent.children -= 1
        self.cta.convergent_groups.remove(other)
