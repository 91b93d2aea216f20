"""Named barriers of groups of warpgroups."""

from ...dialect.irtypes import Op
from ...dialect.ops import ReduceOp
from ...ir.errors import OpError
from ...ir.kernel import function_of
from ...ir.reductions import Exchange, exchange_of
from ...ir.walk import walk
from ...layout.fragments import MAX_THREADS, WARPGROUP

#: A CTA has the barriers 0 to 15 (PTX ISA 9.7.13.1). 0 is that of all threads, and 1 to 8 are those of
#: `smem.warpgroup_barrier`.
_FIRST, _END = 1 + MAX_THREADS // WARPGROUP, 16


class NamedBarriers:
    """The barriers of the groups of warpgroups that reduce together.

    Two groups share a barrier only if they are the same warpgroups. Otherwise, a warp of one could arrive
    while the other still waits.
    """

    def __init__(self) -> None:
        self._numbers: dict[Op, dict[tuple[int, int, int], int]] = {}

    def first(self, op: ReduceOp, exchange: Exchange) -> int:
        """Return the barrier of the op's first group; that of group i is i later.

        All reductions of the function must still exist at the first call.

        Raises:
            OpError: if the function has more groups than barriers.
        """
        function = function_of(op)
        if function not in self._numbers:
            self._numbers[function] = _assigned(function)
        return self._numbers[function][_key(exchange)]


def _assigned(function: Op) -> dict[tuple[int, int, int], int]:
    numbers: dict[tuple[int, int, int], int] = {}
    free = _FIRST
    for op in walk(function, ReduceOp):
        exchange = exchange_of(op)
        if exchange is None or exchange.warpgroups == 1 or _key(exchange) in numbers:
            continue
        numbers[_key(exchange)], free = free, free + exchange.groups
        if free > _END:
            raise OpError(
                op,
                f"needs a barrier for each of {exchange.groups} groups of {exchange.warpgroups} "
                f"warpgroups; of {_END - _FIRST} barriers for groups, "
                f"{_END - free + exchange.groups} are left",
            )
    return numbers


def _key(exchange: Exchange) -> tuple[int, int, int]:
    return exchange.first, exchange.groups, exchange.warpgroups
