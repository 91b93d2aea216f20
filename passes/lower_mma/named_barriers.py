"""Named barriers of groups of warpgroups."""

from ...bindings.irtypes import Op
from ...dialect.ops import ReduceOp
from ...ir.errors import OpError
from ...ir.kernel import function_of
from ...ir.named_barriers import FIRST_BARRIER, last_barriers
from ...ir.reductions import Exchange, exchange_of
from ...ir.walk import walk


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
    free, end = FIRST_BARRIER, last_barriers(function).first
    for op in walk(function, ReduceOp):
        exchange = exchange_of(op)
        if exchange is None or exchange.warpgroups == 1 or _key(exchange) in numbers:
            continue
        numbers[_key(exchange)], free = free, free + exchange.groups
        if free > end:
            raise OpError(
                op,
                f"needs a barrier for each of {exchange.groups} groups of {exchange.warpgroups} "
                f"warpgroups; of {end - FIRST_BARRIER} barriers for groups, "
                f"{end - free + exchange.groups} are left",
            )
    return numbers


def _key(exchange: Exchange) -> tuple[int, int, int]:
    return exchange.first, exchange.groups, exchange.warpgroups
