"""The threads that run the same ops, and those of them that execute the current op."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

from ....bindings.irtypes import Op
from ....ir.op_address import OpIdentity
from ....layout.fragments import WARPGROUP
from ..polynomials import Polynomial, Symbol


@dataclass(frozen=True, eq=False)
class Partition:
    """Threads that run the same ops: an `smem.partition`, one warp of it, or the whole CTA.

    Attributes:
        op: the `smem.partition`, or the function; for the threads of one warp, their `smem.elect`.
        warpgroups: how many warpgroups they are; None if not known.
        whole: whether they are all threads of the CTA.
        first: whether the CTA's first warpgroup is one of them.
        symbol: the number of a warpgroup in the partition; None if the partition is the whole CTA.
    """

    op: Op
    warpgroups: int | None
    whole: bool
    first: bool
    symbol: Symbol | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @cached_property
    def _identity(self) -> OpIdentity:
        return OpIdentity.of(self.op)


class ActiveThreads:
    """The threads of a partition that execute the current op.

    Attributes:
        partition: all of them.
        scope: the scope of the enclosing `smem.elect`; empty if all threads execute the ops.
        is_divergent: whether only some of its warpgroups may execute the ops.
        depth: how many branches, loops and elections the ops are in.
        first: the loops around the ops, from the outside in, with whether it is their first iteration.
        same_in_cluster: whether threads of the same number execute the ops equally often in every CTA of
            the cluster.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.scope = ""
        self.is_divergent = False
        self.depth = 0
        self.first: dict[Op, bool] = {}
        self.same_in_cluster = True

    @property
    def count(self) -> int | None:
        """How many threads execute the current op; None if not known."""
        if self.scope == "cta":
            return 1
        count = self.partition.warpgroups
        return count if count is None or self.scope else WARPGROUP * count

    @property
    def iteration(self) -> tuple[bool, ...]:
        """Whether it is the first iteration of each loop around the ops, from the outside in."""
        return tuple(self.first.values())

    @contextmanager
    def elect(self, scope: str) -> Iterator[None]:
        """Restrict execution to one thread of each warpgroup, or of the CTA."""
        self.scope = scope
        try:
            yield
        finally:
            self.scope = ""

    @contextmanager
    def select_warpgroups(self) -> Iterator[None]:
        """Restrict execution to some of the partition's warpgroups."""
        before, self.is_divergent = (
            self.is_divergent,
            self.is_divergent or self.partition.warpgroups != 1,
        )
        try:
            yield
        finally:
            self.is_divergent = before

    @contextmanager
    def enter_region(self) -> Iterator[None]:
        """Go into the region of an op."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    @contextmanager
    def control(self, values: Iterable[Polynomial]) -> Iterator[None]:
        """Let values decide how often ops are executed; the values may differ between CTAs of the
        cluster."""
        before, self.same_in_cluster = (
            self.same_in_cluster,
            self.same_in_cluster and all(x.same_in_cluster for x in values),
        )
        try:
            yield
        finally:
            self.same_in_cluster = before
