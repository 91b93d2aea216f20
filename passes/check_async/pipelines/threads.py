"""The threads that execute an op: all of a partition, or those that an `smem.elect` selects."""

from collections.abc import Iterator
from contextlib import contextmanager

from ....layout.fragments import WARPGROUP
from .kernel import Partition


class Threads:
    """The threads of a partition that execute the current op.

    Attributes:
        partition: all of them.
        scope: the scope of the enclosing `smem.elect`; empty if all threads execute the ops.
        apart: whether some of its warpgroups only may execute the ops.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.scope = ""
        self.apart = False

    @property
    def count(self) -> int | None:
        """How many threads execute the current op; None if not known."""
        if self.scope == "cta":
            return 1
        count = self.partition.warpgroups
        return count if count is None or self.scope else WARPGROUP * count

    @contextmanager
    def elected(self, scope: str) -> Iterator[None]:
        """Restrict execution to one thread of each warpgroup, or of the CTA, inside the context."""
        self.scope = scope
        try:
            yield
        finally:
            self.scope = ""

    @contextmanager
    def chosen(self) -> Iterator[None]:
        """Restrict execution to some of the partition's warpgroups inside the context."""
        before, self.apart = self.apart, self.apart or self.partition.warpgroups != 1
        try:
            yield
        finally:
            self.apart = before
