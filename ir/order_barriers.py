"""The named barriers by which the warpgroups of a partition take turns."""

from collections.abc import Iterable

from ..dialect.irtypes import Op
from ..dialect.ops import OrderWaitOp, PartitionOp
from ..layout.fragments import MAX_THREADS, WARPGROUP
from .walk import holds

#: The barriers of a CTA (PTX ISA 9.7.13.1), and the first one behind that of all threads, and those of
#: `smem.warpgroup_barrier`.
BARRIERS, FIRST_BARRIER = 16, 1 + MAX_THREADS // WARPGROUP


def order_barriers(partitions: Iterable[PartitionOp]) -> dict[Op, int]:
    """Return the barrier of the first warpgroup of each of a function's partitions whose warpgroups take
    turns; that of warpgroup i is i later.

    They are the last ones of the CTA, so that others can be counted from the first one on. A partition of
    one warpgroup needs none.
    """
    found: dict[Op, int] = {}
    number = BARRIERS
    for partition in partitions:
        warpgroups = partition.warpgroups.value
        if warpgroups > 1 and holds(partition, OrderWaitOp):
            number -= warpgroups
            found[partition.operation] = number
    return found
