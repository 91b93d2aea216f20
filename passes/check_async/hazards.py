"""Accesses that other threads, or the tensor cores, may not be done with."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .regions import Env, Region


class Write(NamedTuple):
    """A copy, or a store, that no other access can rely on yet.

    Attributes:
        op: the copy.
        group: the number of its group of asynchronous copies; None once it is complete.
        fenced, met: whether an `smem.fence`, and a barrier, has come since it is complete.
        doubt: an op that may have put it in order in a way that is not known.
    """

    op: Any
    group: int | None
    fenced: bool = False
    met: bool = False
    doubt: Any = None


class Read(NamedTuple):
    """An mma that may still be reading, or a load that other threads may still be doing.

    Attributes:
        op: the mma or the load.
        group: the number of its group of `wgmma`; None once this warpgroup has waited for it, and for a
            load.
        doubt: an op that may have waited for it in a way that is not known.
    """

    op: Any
    group: int | None
    doubt: Any = None


@dataclass
class State:
    """What is known at a point of a program: integers, and the accesses that are not over.

    Groups are numbered as they are made; one that is not committed has the next number.
    """

    env: Env = field(default_factory=dict)
    writes: dict[Region, Write] = field(default_factory=dict)
    reads: dict[Region, Read] = field(default_factory=dict)
    copy_groups: int = 0
    mma_groups: int = 0

    def copy(self, env: Env) -> "State":
        """The same accesses with other integers."""
        return State(env, dict(self.writes), dict(self.reads), self.copy_groups, self.mma_groups)

    # What ops do.

    def write(self, op: Any, region: Region, asynchronous: bool) -> None:
        """A copy begins."""
        new = Write(op, self.copy_groups if asynchronous else None)
        self.writes[region] = _worse_write(new, self.writes.get(region, new))

    def commit(self) -> None:
        """A group of copies is closed."""
        self.copy_groups += 1

    def wait_for_copies(self, pending: int) -> None:
        """All but the latest groups of copies are complete."""
        for region, write in self.writes.items():
            if write.group is not None and write.group < self.copy_groups - pending:
                self.writes[region] = write._replace(group=None)

    def fence(self) -> None:
        """The tensor cores see what is complete."""
        self._settle(fenced=True)

    def barrier(self) -> None:
        """All threads of the block see what is complete, and know which mma are waited for."""
        self._settle(met=True)
        self.reads = {r: read for r, read in self.reads.items() if read.group is not None}

    def _settle(self, **what: bool) -> None:
        for region, write in list(self.writes.items()):
            if write.group is None:
                self.writes[region] = settled = write._replace(**what)
                if settled.fenced and settled.met:
                    del self.writes[region]

    def read(self, op: Any, regions: list[Region]) -> None:
        """An mma begins."""
        for region in regions:
            self.reads[region] = Read(op, self.mma_groups)
        self.mma_groups += 1

    def read_by_threads(self, op: Any, region: Region) -> None:
        """A load begins, and is over for the thread itself."""
        new = Read(op, None)
        self.reads[region] = _younger(self.reads.get(region, new), new)

    def wait_for_mma(self, pending: int) -> None:
        """This warpgroup's mma are over, but for the latest."""
        for region, read in self.reads.items():
            if read.group is not None and read.group < self.mma_groups - pending:
                self.reads[region] = read._replace(group=None)

    def doubt(self, op: Any) -> None:
        """An op may order any of the accesses."""
        for region, write in self.writes.items():
            self.writes[region] = write._replace(doubt=write.doubt or op)
        for region, read in self.reads.items():
            self.reads[region] = read._replace(doubt=read.doubt or op)

    def forget(self) -> None:
        """Nothing is said of the accesses up to here."""
        self.writes.clear()
        self.reads.clear()

    # What they must not do.

    def unsettled(self, region: Region) -> Iterator[tuple[Region, Write]]:
        """The writes of bytes that an mma is about to read."""
        return ((r, w) for r, w in self.writes.items() if r.meets(region) is not False)

    def unmet(self, region: Region) -> Iterator[tuple[Region, Write]]:
        """The writes of bytes that threads are about to read or write: not over, or with no barrier
        since."""
        return ((r, w) for r, w in self.unsettled(region) if w.group is not None or not w.met)

    def unfinished(self, region: Region) -> Iterator[tuple[Region, Read]]:
        """The reads, of an mma or of threads, of bytes that are about to be written."""
        return ((r, m) for r, m in self.reads.items() if r.meets(region) is not False)

    # Several paths.

    def counted_from(self, furthest: int) -> "State":
        """The same state with groups counted back from zero; no wait tells those apart that lie
        further back than `furthest`."""
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
        """Adds what another path may have left undone; both are counted from zero.

        Returns:
            Whether that changed anything.
        """
        before = (dict(self.writes), dict(self.reads))
        for region, write in other.writes.items():
            mine = self.writes.get(region)
            self.writes[region] = write if mine is None else _worse_write(mine, write)
        for region, read in other.reads.items():
            mine = self.reads.get(region)
            self.reads[region] = read if mine is None else _younger(mine, read)
        return before != (self.writes, self.reads)


def _younger(mine: Any, other: Any) -> Any:
    """The access whose group is waited for later."""
    ages = [-(1 << 62) if access.group is None else access.group for access in (mine, other)]
    return other if ages[1] > ages[0] else mine


def _worse_write(mine: Write, other: Write) -> Write:
    """A write that is in order only if both are."""
    worse = _younger(mine, other)
    return worse._replace(fenced=mine.fenced and other.fenced, met=mine.met and other.met)
