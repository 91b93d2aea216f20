"""Walks that collect ops by name, or by class for ops of the dialect."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from ..bindings.irtypes import HasOperation, Op
from ..bindings.mlir import ir
from ..dialect.op import SmemOp, operation_names
from ..dialect.smem import Smem

#: The name of an op, or a class of ops of the dialect. Ops found by class are op views.
OpSelector = str | type[SmemOp]

_ADVANCE, _SKIP = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP

#: Ops that hold no other op of these names: a walk for them alone does not enter their bodies.
_GLOBALS = {"func.func", "gpu.func", "llvm.func", "llvm.mlir.global"}


def walk(root: HasOperation, *selectors: OpSelector) -> Iterator[Any]:
    """Return the ops in `root` of some names and classes (all ops by default), in pre-order.

    They are collected before the first is returned, so the caller can change them.
    """
    if not selectors:
        ops: list[Op] = []

        def visit(op: Op) -> Any:
            ops.append(op)
            return _ADVANCE

        root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        return iter(ops)
    return iter(gather(root, selectors)[0])


def gather(root: HasOperation, *groups: Iterable[OpSelector]) -> list[list[Any]]:
    """Return the ops in `root` of each group, in pre-order, collected in a single walk."""
    gathered: list[list[Op]] = [[] for _ in groups]
    adders: dict[str, Any] = {}
    for selectors, ops in zip(groups, gathered, strict=True):
        for selector in selectors:
            if isinstance(selector, str):
                adders[selector] = ops.append
            else:
                names = _names(selector, len(Smem.operations))
                adders |= dict.fromkeys(names, lambda op, ops=ops: ops.append(op.opview))
    adder_of = adders.get
    within_globals = not adders.keys() <= _GLOBALS

    # Called for every op of a module; it takes most of the time of some passes.
    def visit(op: Op) -> Any:
        name = op.name
        add = adder_of(name)
        if add is not None:
            add(op)
        return _ADVANCE if within_globals or name not in _GLOBALS else _SKIP

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return gathered


def walk_dialects(root: Op, predicate: Callable[[str], bool]) -> list[Op]:
    """Return the ops in `root` of the dialects whose names satisfy a predicate, in pre-order."""
    ops: list[Op] = []
    is_selected = cache(lambda name: predicate(name.partition(".")[0]))

    def visit(op: Op) -> Any:
        if is_selected(op.name):
            ops.append(op)
        return _ADVANCE

    root.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return ops


def holds(root: Op, *selectors: OpSelector) -> bool:
    """Whether `root` contains an op of some names and classes."""
    return next(walk(root, *selectors), None) is not None


@cache
def _names(op_class: type[SmemOp], op_count: int) -> tuple[str, ...]:
    """Return the names of the ops of a class.

    `op_count`, the number of defined ops, invalidates the cache.
    """
    return operation_names(op_class)
