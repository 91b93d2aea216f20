"""Threads that run the same ops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ....bindings.irtypes import Op
from ....ir.op_address import OpIdentity
from ..polynomials import Symbol


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
