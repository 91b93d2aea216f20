"""Arrays in global memory that a function writes and also reads, in program order.

`smem-check-async` does not follow them. `smem-insert-sync` does, because its input has no barriers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.effects import Completion, Scope, declared_accesses
from ...dialect.memrefs import is_workgroup
from ...dialect.op import SmemOp
from ...ir.walk import walk
from .effects import accessed_memrefs, base_of, defining_op
from .rectangles import Allocation, SymbolicRectangle


class GlobalAccess(NamedTuple):
    """An access of an array in global memory.

    Attributes:
        op: the op.
        window: the memref, a part of the array.
        writes: whether it writes.
        asynchronous: whether it may be incomplete after the op.
        in_bulk: whether it completes by a group of bulk copies.
    """

    op: Op
    window: Value
    writes: bool
    asynchronous: bool
    in_bulk: bool = False


class GlobalArrays:
    """The accesses of the arrays that a function writes and, by another op, also reads.

    Different arguments of a function are different arrays.

    Args:
        function: the function.
    """

    def __init__(self, function: Op) -> None:
        arrays: dict[Value, list[GlobalAccess]] = {}
        for op in walk(function):
            for access in _accesses(op.opview):
                arrays.setdefault(base_of(access.window), []).append(access)
        self._arrays = {
            base: list(accesses)
            for base, accesses in arrays.items()
            if next(_conflicts(accesses), None) is not None
        }
        self._rectangles: dict[Op, list[tuple[GlobalAccess, SymbolicRectangle]]] = {}
        for base, accesses in self._arrays.items():
            for access in accesses:
                array = Allocation(
                    access.op, ("array", base), None, 1, 1, 1, outside=True, of_global=True
                )
                whole = SymbolicRectangle(array, (0, ()), (0, ()), (0, ()), 1, 1)
                self._rectangles.setdefault(access.op.operation, []).append((access, whole))

    def accesses_by(self, op: Op) -> list[tuple[GlobalAccess, SymbolicRectangle]]:
        """Return the accesses by an op, each with its whole array, reads first."""
        return sorted(self._rectangles.get(op.operation, ()), key=lambda pair: pair[0].writes)

    def conflicts(self) -> Iterator[tuple[GlobalAccess, GlobalAccess]]:
        """Yield pairs of a write and a read of the same array by different threads."""
        for accesses in self._arrays.values():
            yield from _conflicts(accesses)


def asynchronous_reason(access: GlobalAccess) -> str:
    """Return why an asynchronous access of such an array is not followed."""
    verb = "writes" if access.writes else "reads"
    other_verb = "reads" if access.writes else "writes"
    return f"it {verb} an array asynchronously that another op {other_verb}"


def by_same_threads(one: Op, other: Op) -> bool:
    """Whether each thread accesses the same elements of an array by two ops.

    So it is for fragments of one shape in one window. A window in different iterations of a loop counts
    as one window.
    """
    first, second = ([x for x in _accesses(op) if isinstance(op, SmemOp)] for op in (one, other))
    return (
        len(first) == len(second) == 1
        and _are_same(first[0].window, second[0].window)
        and all(op.effects.scope is Scope.WARPGROUP for op in (one, other))
    )


def _are_same(one: Value, other: Value) -> bool:
    """Whether two memrefs are one value, or results of the same op on the same operands."""
    defining, other_defining = defining_op(one), defining_op(other)
    if one == other or defining is None or other_defining is None:
        return one == other
    attributes = [
        {x: str(op.attributes[x]) for x in op.attributes} for op in (defining, other_defining)
    ]
    if defining.name != other_defining.name or attributes[0] != attributes[1]:
        return False
    if defining.name == "memref.transpose":
        return _are_same(defining.operands[0], other_defining.operands[0])
    return list(defining.operands) == list(other_defining.operands) and one.type == other.type


def _conflicts(accesses: list[GlobalAccess]) -> Iterator[tuple[GlobalAccess, GlobalAccess]]:
    """Yield pairs of a write and a read by different threads, at least one by an op of the dialect."""
    for write in accesses:
        for read in accesses:
            is_followed = isinstance(write.op, SmemOp) or isinstance(read.op, SmemOp)
            if (
                write.writes
                and not read.writes
                and is_followed
                and not by_same_threads(write.op, read.op)
            ):
                yield write, read


def _accesses(op: Op) -> Iterator[GlobalAccess]:
    if isinstance(op, SmemOp):
        for value, access in declared_accesses(op):
            if _is_global(value):
                completion = access.completion
                later = completion is not Completion.AT_ONCE
                in_bulk = completion is Completion.BULK_GROUP
                yield GlobalAccess(op, value, access.writes, later, in_bulk)
        return
    reads, writes = accessed_memrefs(op.operation)
    for value in (*reads, *writes):
        if _is_global(value):
            yield GlobalAccess(op, value, value in writes, False)


def _is_global(value: Value) -> bool:
    return isinstance(value.type, ir.MemRefType) and not is_workgroup(value.type)
