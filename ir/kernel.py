"""The function that contains an op, and the size of its thread block."""

from collections.abc import Iterator
from math import prod

from ..bindings.diagnostics import format_location
from ..bindings.irtypes import Attribute, Module, Op
from ..bindings.mlir import ir
from ..dialect.ops import ElectOp, PartitionOp
from ..layout.fragments import MAX_THREADS, WARPGROUP
from .errors import OpError
from .walk import walk

#: Ops that contain functions, and terminators of functions.
MODULES = ("builtin.module", "gpu.module")
_RETURNS = ("gpu.return", "func.return", "llvm.return")


def function_of(op: Op) -> Op:
    """Return the function that contains an op: its outermost ancestor below a module.

    Raises:
        OpError: if that is not a function.
    """
    operation = op.operation
    while operation.parent is not None and operation.parent.operation.name not in MODULES:
        operation = operation.parent.operation
    if "function_type" not in operation.attributes:
        raise OpError(op, "is in no function; shared memory belongs to a kernel")
    return operation


def ancestors_of(op: Op) -> Iterator[Op]:
    """Yield the ancestors of an op within its function, innermost first."""
    function, outer = function_of(op), op.operation
    while outer != function and (outer := outer.parent.operation) != function:
        yield outer


def functions_of(module: Module, declared: bool = False) -> Iterator[Op]:
    """Yield the functions of a module and of its nested modules: ops with regions that are not modules.

    Args:
        module: the module.
        declared: whether also those without a body.
    """
    for op in list(module.operation.regions[0].blocks[0].operations):
        regions = op.operation.regions
        if op.operation.name in MODULES:
            yield from functions_of(op.operation, declared)
        elif len(regions) and (declared or any(len(region.blocks) for region in regions)):
            yield op.operation


def module_of(function: Op) -> Op:
    """Return the module that contains a function, and defines the symbols that it uses."""
    return function.parent.operation


def block_size(function: Op) -> tuple[int, int, int] | None:
    """Return the threads of a thread block along x, y and z, from `known_block_size` (or
    `nvvm.reqntid`); None without the attribute.

    Raises:
        OpError: if no thread block has that size.
    """
    size = extents_of(function, "known_block_size", "gpu.known_block_size", "nvvm.reqntid")
    if size is not None and (min(size) < 1 or prod(size) > MAX_THREADS):
        threads = " x ".join(map(str, size))
        raise OpError(
            function, f"has thread blocks of {threads} threads; expected 1 to {MAX_THREADS} threads"
        )
    return size


def extents_of(function: Op, *names: str) -> tuple[int, int, int] | None:
    """Return (x, y, z) of the first of the named attributes that a function has; None without one.

    Missing extents are 1.

    Raises:
        OpError: if the attribute is malformed.
    """
    for name in names:
        if name in function.attributes:
            attribute = function.attributes[name]
            if not isinstance(attribute, ir.DenseI32ArrayAttr) or not 1 <= len(attribute) <= 3:
                raise OpError(function, f"has {name} = {attribute}; expected array<i32: x, y, z>")
            x, y, z = (*list(attribute), 1, 1)[:3]
            return x, y, z
    return None


def required_block_size(op: Op) -> tuple[int, int, int]:
    """Return the thread block size of the kernel of an op that all threads execute together.

    Raises:
        OpError: if it is not known, or is not a number of whole warpgroups.
    """
    size = block_size(function_of(op))
    if size is None:
        raise OpError(
            op,
            "is executed by all threads together, but the number of threads is not known; set "
            "known_block_size = array<i32: x, y, z> on the kernel",
        )
    if prod(size) % WARPGROUP:
        raise OpError(
            op,
            f"is in a kernel of {prod(size)} threads; expected a multiple of {WARPGROUP}, whole "
            "warpgroups",
        )
    return size


def check_collective(op: Op) -> None:
    """Check that all threads of a warpgroup execute an op.

    Raises:
        OpError: if it is in an `smem.elect`, whose region one thread executes.
    """
    for outer in ancestors_of(op):
        if outer.name == ElectOp.OPERATION_NAME:
            raise OpError(
                op,
                f"is in the smem.elect at {format_location(outer.location)}, which one thread executes; "
                "all threads of a warpgroup execute it together",
            )


def warpgroups_of(op: Op) -> tuple[int, int]:
    """Return the range [first, end) of warpgroups that execute an op: those of its partition, or all.

    Raises:
        OpError: if the thread block size is not known, or is not a number of whole warpgroups.
    """
    end = prod(required_block_size(op)) // WARPGROUP
    for outer in ancestors_of(op):
        if outer.name == PartitionOp.OPERATION_NAME:
            partitions = outer.parent.opview.partitions
            counts = {partition.operation: partition.warpgroups.value for partition in partitions}
            position = list(counts).index(outer)
            first = sum(list(counts.values())[:position])
            return first, first + counts[outer]
    return 0, end


def threads_of(function: Op) -> int | None:
    """Return the number of threads of a thread block; None if it is not known."""
    size = block_size(function)
    return None if size is None else prod(size)


def ctas_of_multiprocessor(function: Op) -> int:
    """Return how many CTAs share the registers at least: `nvvm.minctasm` (`.minnctapersm`), or 1."""
    if "nvvm.minctasm" not in function.attributes:
        return 1
    count = function.attributes["nvvm.minctasm"].maybe_downcast()
    return max(1, count.value) if isinstance(count, ir.IntegerAttr) else 1


def parameter_attributes(function: Op, count: int) -> list[Attribute]:
    """Return the attribute dictionaries of a function's `count` parameters."""
    attributes = function.attributes
    return (
        list(attributes["arg_attrs"]) if "arg_attrs" in attributes else [ir.DictAttr.get()] * count
    )


def returns_of(function: Op) -> Iterator[Op]:
    """Yield the return ops of a function."""
    return walk(function, *_RETURNS)
