"""The abstract state of a program: integers, and accesses that may not be complete for other threads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ...dialect.irtypes import Op
from .rectangles import Env, Rectangle


class Write(NamedTuple):
    """A copy or store that is not ordered before other accesses yet.

    Attributes:
        op: the copy or store.
        group: the number of its group of asynchronous copies; None once it is complete.
        fenced, past_barrier: whether an `smem.fence`, and a barrier, came after it was complete.
        maybe_ordered_by: an op with unknown effects that may have ordered it.
        several: whether another op may have written the bytes, too, and no barrier came after that.
    """

    op: Op
    group: int | None
    fenced: bool = False
    past_barrier: bool = False
    maybe_ordered_by: Op | None = None
    several: bool = False


class Read(NamedTuple):
    """An mma that may still be reading, or a load that other threads may still be executing.

    Attributes:
        op: the mma or the load.
        group: the number of its group of `wgmma`; None for a load, and once this warpgroup has waited.
        maybe_ordered_by: an op with unknown effects that may have waited for it.
        several: whether it may be the read of another op instead.
    """

    op: Op
    group: int | None
    maybe_ordered_by: Op | None = None
    several: bool = False


_Access = TypeVar("_Access", Read, Write)


@dataclass
class State:
    """The abstract state at a point of a program: integers, and the accesses that may not be complete.

    Groups are numbered in the order in which they are committed; an open group has the next number.
    """

    env: Env = field(default_factory=dict)
    writes: dict[Rectangle, Write] = field(default_factory=dict)
    reads: dict[Rectangle, Read] = field(default_factory=dict)
    copy_groups: int = 0
    mma_groups: int = 0

    def copy(self, env: Env) -> "State":
        """Return a state with the same accesses and other integers."""
        return State(env, dict(self.writes), dict(self.reads), self.copy_groups, self.mma_groups)

    # Transfer functions.

    def write(self, op: Op, rectangle: Rectangle, asynchronous: bool) -> None:
        """Begin a copy or store."""
        new = Write(op, self.copy_groups if asynchronous else None)
        self.writes[rectangle] = _joined_writes(new, self.writes.get(rectangle, new))

    def commit(self) -> None:
        """Commit a group of copies."""
        self.copy_groups += 1

    def wait_for_copies(self, pending: int) -> None:
        """Complete all groups of copies but the latest `pending`."""
        for rectangle, write in self.writes.items():
            if write.group is not None and write.group < self.copy_groups - pending:
                self.writes[rectangle] = write._replace(group=None)

    def fence(self) -> None:
        """Make complete writes visible to the tensor cores."""
        self._update_writes(fenced=True)

    def barrier(self) -> None:
        """Order complete writes, loads, and mma that were waited for, before what follows in the CTA."""
        self._update_writes(past_barrier=True, several=False)
        self.reads = {r: read for r, read in self.reads.items() if read.group is not None}

    def _update_writes(self, **changes: bool) -> None:
        for rectangle, write in list(self.writes.items()):
            if write.group is None:
                self.writes[rectangle] = updated = write._replace(**changes)
                if updated.fenced and updated.past_barrier:
                    del self.writes[rectangle]

    def read(self, op: Op, rectangles: list[Rectangle]) -> None:
        """Begin an mma."""
        for rectangle in rectangles:
            self.reads[rectangle] = Read(op, self.mma_groups)
        self.mma_groups += 1

    def read_by_threads(self, op: Op, rectangle: Rectangle) -> None:
        """Execute a load, which is complete for the thread itself."""
        new = Read(op, None)
        self.reads[rectangle] = _joined_reads(self.reads.get(rectangle, new), new)

    def wait_for_mma(self, pending: int) -> None:
        """Complete all mma of this warpgroup but the latest `pending`."""
        for rectangle, read in self.reads.items():
            if read.group is not None and read.group < self.mma_groups - pending:
                self.reads[rectangle] = read._replace(group=None)

    def maybe_order(self, op: Op) -> None:
        """Note that an op may order any of the accesses."""
        for rectangle, write in self.writes.items():
            self.writes[rectangle] = write._replace(maybe_ordered_by=write.maybe_ordered_by or op)
        for rectangle, read in self.reads.items():
            self.reads[rectangle] = read._replace(maybe_ordered_by=read.maybe_ordered_by or op)

    def forget(self) -> None:
        """Forget all accesses: nothing is reported about them."""
        self.writes.clear()
        self.reads.clear()

    # Hazards.

    def hazards_of_mma(self, rectangle: Rectangle) -> Iterator[tuple[Rectangle, Write]]:
        """Yield the unordered writes of bytes that an mma is about to read (RAW)."""
        return ((r, w) for r, w in self.writes.items() if r.overlaps(rectangle) is not False)

    def hazards_of_threads(self, rectangle: Rectangle) -> Iterator[tuple[Rectangle, Write]]:
        """Yield the writes of bytes that threads are about to read or write (RAW, WAW).

        These are the writes that are not complete, or without a barrier since.
        """
        return (
            (r, w)
            for r, w in self.hazards_of_mma(rectangle)
            if w.group is not None or not w.past_barrier
        )

    def hazards_of_write(self, rectangle: Rectangle) -> Iterator[tuple[Rectangle, Read]]:
        """Yield the reads, of an mma or of threads, of bytes that are about to be written (WAR)."""
        return ((r, m) for r, m in self.reads.items() if r.overlaps(rectangle) is not False)

    # Joins of paths.

    def counted_from(self, furthest: int) -> "State":
        """Return the same state with groups counted back from zero.

        No wait distinguishes groups that are more than `furthest` back.
        """
        writes = {
            r: w
            if w.group is None
            else w._replace(group=max(w.group - self.copy_groups, -furthest))
            for r, w in self.writes.items()
        }
        reads = {
            r: m if m.group is None else m._replace(group=max(m.group - self.mma_groups, -furthest))
            for r, m in self.reads.items()
        }
        return State(self.env, writes, reads)

    def join(self, other: "State") -> bool:
        """Add the accesses of another path; both states are counted from zero.

        Returns:
            Whether that changed anything.
        """
        before = (dict(self.writes), dict(self.reads))
        for rectangle, write in other.writes.items():
            mine = self.writes.get(rectangle)
            self.writes[rectangle] = write if mine is None else _joined_writes(mine, write)
        for rectangle, read in other.reads.items():
            mine = self.reads.get(rectangle)
            self.reads[rectangle] = read if mine is None else _joined_reads(mine, read)
        return before != (self.writes, self.reads)


def _younger(mine: _Access, other: _Access) -> _Access:
    """Return the access whose group is waited for later."""
    ages = [-(1 << 62) if access.group is None else access.group for access in (mine, other)]
    return other if ages[1] > ages[0] else mine


def _joined_writes(mine: Write, other: Write) -> Write:
    """Return a write that is in order only if both are; its op is that of which more is missing."""
    later = _younger(mine, other)
    if mine.group is None and other.group is None:
        missing = [(not write.past_barrier, not write.fenced) for write in (mine, other)]
        later = other if missing[1] > missing[0] else mine
    unordered = not mine.past_barrier and not other.past_barrier
    return later._replace(
        fenced=mine.fenced and other.fenced,
        past_barrier=mine.past_barrier and other.past_barrier,
        several=mine.several or other.several or (unordered and mine.op != other.op),
    )


def _joined_reads(mine: Read, other: Read) -> Read:
    """Return a read that is in order only if both are."""
    several = mine.several or other.several or mine.op != other.op
    return _younger(mine, other)._replace(several=several)
