"""Who executes an op: all threads of an partition, or those that an `smem.elect` takes of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from ....layout.fragments import WARPGROUP
from .kernel import Partition


class Threads:
    """The threads of an partition that execute what is followed at the time.

    Attributes:
        partition: all of them.
        scope: the scope of the `smem.elect` around; empty if all threads execute the ops.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.scope = ""

    @property
    def count(self) -> int | None:
        """How many threads execute an op here; None if that is not known."""
        if self.scope == "block":
            return 1
        count = self.partition.warpgroups
        return count if count is None or self.scope else WARPGROUP * count

    @contextmanager
    def elected(self, scope: str) -> Iterator[None]:
        """Lets one thread of each warpgroup, or of the block, execute what is followed within."""
        self.scope = scope
        try:
            yield
        finally:
            self.scope = ""
