"""The function that an op belongs to, and what is known of the block that runs it."""

from collections.abc import Iterator
from math import prod
from typing import Any

from ..dialect.bindings import ir
from ..dialect.diagnostics import format_location
from ..dialect.ops import ElectOp, PartitionOp
from ..layout.fragments import MAX_THREADS, WARPGROUP
from .errors import OpError
from .walk import walk

#: Ops that hold functions, and those that end one.
MODULES = ("builtin.module", "gpu.module")
_RETURNS = ("gpu.return", "func.return", "llvm.return")


def function_of(op: Any) -> Any:
    """The function around an op: its outermost ancestor below a module.

    Raises:
        OpError: if that is no function.
    """
    operation = op.operation
    while operation.parent is not None and operation.parent.operation.name not in MODULES:
        operation = operation.parent.operation
    if "function_type" not in operation.attributes:
        raise OpError(op, "is in no function; shared memory belongs to a kernel")
    return operation


def around(op: Any) -> Iterator[Any]:
    """The ops around an op, within its function, the innermost first."""
    function, outer = function_of(op), op.operation
    while outer != function and (outer := outer.parent.operation) != function:
        yield outer


def functions_of(module: Any) -> Iterator[Any]:
    """The functions of a module and of the modules in it: the ops that hold code."""
    for op in list(module.operation.regions[0].blocks[0].operations):
        if op.operation.name in MODULES:
            yield from functions_of(op.operation)
        elif len(op.operation.regions):
            yield op.operation


def module_of(function: Any) -> Any:
    """The module that holds a function; symbols that it uses are defined there."""
    return function.parent.operation


def block_size(function: Any) -> tuple[int, int, int] | None:
    """Threads of a block along x, y and z, from `known_block_size` (or `nvvm.reqntid`); None if it
    is not known.

    Raises:
        OpError: if no block has so many.
    """
    size = extents_of(function, "known_block_size", "gpu.known_block_size", "nvvm.reqntid")
    if size is not None and (min(size) < 1 or prod(size) > MAX_THREADS):
        threads = " x ".join(map(str, size))
        raise OpError(
            function, f"has blocks of {threads} threads; expected 1 to {MAX_THREADS} threads"
        )
    return size


def extents_of(function: Any, *names: str) -> tuple[int, int, int] | None:
    """What the first of some attributes that a function has says of x, y and z, 1 where it says nothing;
    None if it has none.

    Raises:
        OpError: if the attribute is not of that form.
    """
    for name in names:
        if name in function.attributes:
            given = function.attributes[name]
            if not isinstance(given, ir.DenseI32ArrayAttr) or not 1 <= len(given) <= 3:
                raise OpError(function, f"has {name} = {given}; expected array<i32: x, y, z>")
            x, y, z = (*list(given), 1, 1)[:3]
            return x, y, z
    return None


def required_block_size(op: Any) -> tuple[int, int, int]:
    """The block size of the function around an op that is shared by the block's threads.

    Raises:
        OpError: if it is not known, or is no number of whole warpgroups.
    """
    size = block_size(function_of(op))
    if size is None:
        raise OpError(
            op,
            "is shared by threads of the block, but the kernel does not say how many there are; set "
            "known_block_size = array<i32: x, y, z> on it",
        )
    if prod(size) % WARPGROUP:
        raise OpError(
            op,
            f"is in a kernel of {prod(size)} threads; expected a multiple of {WARPGROUP}, whole "
            "warpgroups",
        )
    return size


def check_collective(op: Any) -> None:
    """Checks that all threads of a warpgroup come by an op.

    Raises:
        OpError: if it is in an `smem.elect`, which one thread executes.
    """
    for outer in around(op):
        if outer.name == ElectOp.OPERATION_NAME:
            raise OpError(
                op,
                f"is in the smem.elect at {format_location(outer.location)}, which one thread executes; "
                "all threads of a warpgroup execute it together",
            )


def warpgroups_of(op: Any) -> tuple[int, int]:
    """The warpgroups that execute an op: those of its partition, or all of the block; the first, and the one
    behind the last.

    Raises:
        OpError: if the block's size is not known, or is no number of whole warpgroups.
    """
    end = prod(required_block_size(op)) // WARPGROUP
    for outer in around(op):
        if outer.name == PartitionOp.OPERATION_NAME:
            partitions = outer.parent.opview.partitions
            counts = {partition.operation: partition.warpgroups.value for partition in partitions}
            before = list(counts).index(outer)
            first = sum(list(counts.values())[:before])
            return first, first + counts[outer]
    return 0, end


def threads_of(function: Any) -> int | None:
    """Threads of a block; None if it is not known."""
    size = block_size(function)
    return None if size is None else prod(size)


def parameter_attributes(function: Any, count: int) -> list[Any]:
    """The attributes of each of a function's `count` parameters."""
    attributes = function.attributes
    return (
        list(attributes["arg_attrs"]) if "arg_attrs" in attributes else [ir.DictAttr.get()] * count
    )


def returns_of(function: Any) -> Iterator[Any]:
    """The ops that end a function."""
    return walk(function, *_RETURNS)
