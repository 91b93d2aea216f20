"""How the threads of a kernel use pipelines. That does not change while synchronization is inserted."""

from __future__ import annotations

from ....bindings.irtypes import Op
from ..intervals import Intervals
from ..values import Values
from .codes import codes_of
from .deadlocks import find_deadlock
from .instructions import Code
from .ops import Ops
from .partition import Partition
from .ranks import Ranks
from .taken import AllTurns

#: Partitions with their ops.
Bodies = list[tuple[Partition, list[Op]]]


class PipelineUse:
    """How the threads of execution of a function use pipelines.

    Attributes:
        codes: what the threads do.
        turns: where warpgroups take pipeline indices in turn.
    """

    def __init__(self) -> None:
        self.codes: list[Code] = []
        self.turns: AllTurns = {}
        self._ranks: Ranks | None = None
        self._deadlock: str | None = None

    def set_bodies(self, bodies: Bodies, ops: Ops, values: Values, known: Intervals) -> None:
        """Set the ops of each partition, once.

        Args:
            bodies: the partitions with their ops.
            ops: facts about ops.
            values: the integers of the function.
            known: what is known of integers before.
        """
        if self._ranks is None:
            self.codes, self.turns = codes_of(bodies, ops, values)
            self._ranks = Ranks(self.codes, values, known, self.turns)

    @property
    def ranks(self) -> Ranks:
        """The pipeline indices that ops take."""
        assert self._ranks is not None
        return self._ranks

    def deadlock(self, bodies: Bodies, ops: Ops, values: Values, known: Intervals) -> str:
        """Return why threads may wait for each other; empty if they do not.

        Args:
            bodies, ops, values, known: as for `set_bodies`, of the function as it is now.
        """
        if self._deadlock is None:
            codes, turns = codes_of(bodies, ops, values)
            self._deadlock = find_deadlock(codes, values, known, turns)
        return self._deadlock
