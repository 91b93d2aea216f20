"""Finding ops: by the names of upstream's, by the classes of ours."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from ..dialect.bindings import ir
from ..dialect.op import SmemOp, operation_names

#: An op by its name, or all ops of a class of the dialect; the classes' ops are found as views.
Wanted = str | type[SmemOp]


def walk(root: Any, *wanted: Wanted) -> Iterator[Any]:
    """The ops that are wanted (all if nothing is said), in the order of the text; collected before any
    is changed."""
    if not wanted:
        found: list[Any] = []
        _visit(root, found.append)
        return iter(found)
    return iter(gather(root, wanted)[0])


def gather(root: Any, *groups: Iterable[Wanted]) -> list[list[Any]]:
    """The ops of each group, in the order of the text: one walk where each group would take its own."""
    found: list[list[Any]] = [[] for _ in groups]
    adders: dict[str, Any] = {}
    for wanted, ops in zip(groups, found, strict=True):
        for each in wanted:
            if isinstance(each, str):
                adders[each] = ops.append
            else:
                adders |= dict.fromkeys(_names(each), lambda op, ops=ops: ops.append(op.opview))

    def visit(op: Any) -> None:
        add = adders.get(op.name)
        if add is not None:
            add(op)

    _visit(root, visit)
    return found


def holds(root: Any, *wanted: Wanted) -> bool:
    """Whether one of the ops that are wanted is in an op."""
    return next(walk(root, *wanted), None) is not None


_names = cache(operation_names)


def _visit(root: Any, visit: Any) -> None:
    advance = ir.WalkResult.ADVANCE

    def call(op: Any) -> Any:
        visit(op)
        return advance

    root.operation.walk(call, ir.WalkOrder.PRE_ORDER)
