"""The named barriers of a CTA: of groups of warpgroups, and of warpgroups that take turns.

Barrier 0 is that of all threads, and 1 to 8 are those of each warpgroup (`smem.warpgroup_barrier`). Those
of reductions are counted from the first one behind these, the others from the last one of the CTA.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from ..bindings.irtypes import Op
from ..dialect.op import SmemOp
from ..dialect.ops import OrderWaitOp, PartitionOp, WarpgroupBarrierOp
from ..layout.fragments import MAX_THREADS, WARPGROUP
from .errors import OpError
from .kernel import warpgroups_of
from .walk import holds, walk

#: The barriers of a CTA (PTX ISA 9.7.13.1), and the first one behind those of each warpgroup.
BARRIERS, FIRST_BARRIER = 16, 1 + MAX_THREADS // WARPGROUP


class Groups(NamedTuple):
    """Groups of adjacent warpgroups that execute an op together.

    Attributes:
        first: the first warpgroup that executes the op.
        groups: the number of groups.
        warpgroups: of each group.
    """

    first: int
    groups: int
    warpgroups: int


def groups_of(op: SmemOp) -> Groups:
    """Return the groups of `op.warpgroups` warpgroups that execute an op.

    Raises:
        OpError: if the warpgroups that execute it do not form whole groups.
    """
    size, (first, end) = op.warpgroups, warpgroups_of(op)
    if (end - first) % size:
        raise OpError(
            op,
            f"has warpgroups = {size}, but {end - first} warpgroups execute it; expected a divisor",
        )
    return Groups(first, (end - first) // size, size)


@dataclass
class LastBarriers:
    """The barriers that are counted from the last one of a CTA.

    Attributes:
        turns: for each partition whose warpgroups take turns, the barrier of the first of them; that of
            warpgroup i is i later. A partition of one warpgroup needs none.
        groups: for groups of warpgroups with an `smem.warpgroup_barrier`, the barrier of the first group;
            that of group i is i later.
        first: the first of all.
    """

    turns: dict[Op, int] = field(default_factory=dict)
    groups: dict[Groups, int] = field(default_factory=dict)
    first: int = BARRIERS


def last_barriers(function: Op) -> LastBarriers:
    """Return the barriers that are counted from the last one of a CTA.

    Raises:
        OpError: if the warpgroups that execute an `smem.warpgroup_barrier` do not form whole groups.
    """
    barriers = LastBarriers()
    for partition in walk(function, PartitionOp):
        warpgroups = partition.warpgroups.value
        if warpgroups > 1 and holds(partition, OrderWaitOp):
            barriers.first -= warpgroups
            barriers.turns[partition.operation] = barriers.first
    for op in walk(function, WarpgroupBarrierOp):
        if op.warpgroups > 1 and (groups := groups_of(op)) not in barriers.groups:
            barriers.first -= groups.groups
            barriers.groups[groups] = barriers.first
    return barriers
