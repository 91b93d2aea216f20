"""Finding ops: by the names of upstream's, by the classes of ours."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ..dialect.bindings import ir
from ..dialect.op import SmemOp, operation_names
from ..dialect.smem import Smem

#: An op by its name, or all ops of a class of the dialect; the classes' ops are found as views.
Wanted = str | type[SmemOp]

_ADVANCE = ir.WalkResult.ADVANCE


def walk(allocation: Any, *wanted: Wanted) -> Iterator[Any]:
    """The ops that are wanted (all if nothing is said), in the order of the text; collected before any
    is changed."""
    if not wanted:
        found: list[Any] = []

        def visit(op: Any) -> Any:
            found.append(op)
            return _ADVANCE

        allocation.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        return iter(found)
    return iter(gather(allocation, wanted)[0])


def gather(allocation: Any, *groups: Iterable[Wanted]) -> list[list[Any]]:
    """The ops of each group, in the order of the text: one walk where each group would take its own."""
    found: list[list[Any]] = [[] for _ in groups]
    adders: dict[str, Any] = {}
    for wanted, ops in zip(groups, found, strict=True):
        for each in wanted:
            if isinstance(each, str):
                adders[each] = ops.append
            else:
                names = _names(each, len(Smem.operations))
                adders |= dict.fromkeys(names, lambda op, ops=ops: ops.append(op.opview))
    adder_of = adders.get

    # Called for every op of a module: what it does is most of the time of some passes.
    def visit(op: Any) -> Any:
        add = adder_of(op.name)
        if add is not None:
            add(op)
        return _ADVANCE

    allocation.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def holds(allocation: Any, *wanted: Wanted) -> bool:
    """Whether one of the ops that are wanted is in an op."""
    return next(walk(allocation, *wanted), None) is not None


@cache
def _names(wanted: type[SmemOp], known: int) -> tuple[str, ...]:
    """The names of the ops of a class, of which there may be more once more ops are known."""
    return operation_names(wanted)
