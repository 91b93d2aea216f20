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
        apart: whether some of its warpgroups only may execute the ops.
        depth: how many branches, loops and elections the ops are in.
        first: the loops around the ops, from the outside in, with whether it is their first iteration.
        alike: whether threads of the same number execute the ops in every CTA of the cluster, as often.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.scope = ""
        self.apart = False
        self.depth = 0
        self.first: dict[Op, bool] = {}
        self.alike = True

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
        """Restrict execution to one thread of each warpgroup, or of the CTA, inside the context."""
        self.scope = scope
        try:
            yield
        finally:
            self.scope = ""

    @contextmanager
    def select_warpgroups(self) -> Iterator[None]:
        """Restrict execution to some of the partition's warpgroups inside the context."""
        before, self.apart = self.apart, self.apart or self.partition.warpgroups != 1
        try:
            yield
        finally:
            self.apart = before

    @contextmanager
    def within(self) -> Iterator[None]:
        """Go into the region of an op."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    @contextmanager
    def control(self, values: Iterable[Polynomial]) -> Iterator[None]:
        """Execute ops as often as these values say, which may differ between the CTAs of the cluster."""
        before, self.alike = self.alike, self.alike and all(x.same_in_cluster for x in values)
        try:
            yield
        finally:
            self.alike = before
