"""The *progress* of an access: what has happened to it since it was executed, as one small number.

    -1, -2, ...  in flight: its group is open, or 0, 1, ... groups were committed after it
    0 to 3       complete: FENCED, if its threads fenced it since; PAST_BARRIER, if a barrier came since

Ops only raise it. So an inserted op leaves ordered accesses in order, and an access need not be followed
further where its progress is enough for any later access.
"""

from __future__ import annotations

from typing import NamedTuple

from .program import (
    BulkCommit,
    BulkRead,
    BulkWait,
    CopyCommit,
    CopyWait,
    CtaBarrier,
    Elected,
    Fence,
    MemoryWrite,
    MmaRead,
    MmaWait,
    Step,
    ThreadRead,
)

FENCED, PAST_BARRIER = 1, 2

#: The progress of an access whose group is open; that of one whose group is the latest is one less.
OPEN = -1

#: The accesses whose progress is followed.
Followed = MemoryWrite | ThreadRead | MmaRead | BulkRead


class Group(NamedTuple):
    """A kind of groups of accesses: the steps that close them and wait for them.

    Attributes:
        closing, waiting: the classes of these steps.
        threads: the threads to which the groups belong; None for all threads.
        of_reads: whether only reads must be complete.
    """

    closing: type[Step]
    waiting: type[CopyWait | MmaWait | BulkWait]
    threads: Elected | None = None
    of_reads: bool = False

    def concerns(self, step: Step) -> bool:
        """Whether a step that closes groups, or waits for them, does so for these."""
        by = step.threads if isinstance(step, BulkCommit | BulkWait) else None
        is_less = isinstance(step, BulkWait) and step.of_reads and not self.of_reads
        return by in (None, self.threads) and not is_less


def group_of(step: Followed) -> Group | None:
    """Return the kind of group of an access; None if it is complete at once."""
    if isinstance(step, BulkRead):
        return Group(BulkCommit, BulkWait, step.threads, of_reads=True)
    if isinstance(step, MemoryWrite) and step.asynchronous:
        if step.threads is not None:
            return Group(BulkCommit, BulkWait, step.threads)
        return Group(CopyCommit, CopyWait)
    return Group(MmaRead, MmaWait) if isinstance(step, MmaRead) else None


def first_progress(step: Followed) -> int:
    """Return the initial progress of an access. Each mma is a group."""
    if group_of(step) is None:
        return 0
    return OPEN - 1 if isinstance(step, MmaRead) else OPEN


def age_of(progress: int) -> int | None:
    """Return how many groups were committed after that of an access, -1 if it is open; None if the access
    is complete."""
    return None if progress >= 0 else OPEN - 1 - progress


def progress_after(progress: int, step: Step, group: Group | None, furthest: int) -> int:
    """Return the progress of an access after a step.

    Args:
        progress: that before the step.
        step: the step.
        group: the kind of group of the access.
        furthest: groups are told apart up to this many groups back.
    """
    if progress >= 0:
        if isinstance(step, Fence):
            return progress | FENCED
        return progress | PAST_BARRIER if isinstance(step, CtaBarrier) else progress
    assert group is not None
    if isinstance(step, group.closing) and group.concerns(step):
        return max(progress - 1, OPEN - 1 - furthest)
    if isinstance(step, group.waiting) and group.concerns(step):
        return 0 if progress <= OPEN - 1 - step.pending else progress
    return progress


def is_enough(progress: int, needed: int) -> bool:
    """Whether an access is complete, with the flags that are needed."""
    return progress >= 0 and progress & needed == needed
