"""`sl.print`: values of a kernel, printed while it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ...bindings.mlir import arith, gpu, ir
from ...ir import emit
from ...ir.kernel import ancestors_of
from ...ir.op_address import op_address
from ...ir.walk import walk
from ..control.grid import WARPGROUP
from ..dtypes import DType, f32, f64, i32, i64, index
from ..errors import TraceError
from ..trace import current, op_builder
from ..values import elements
from ..values.array import describe_memory
from ..values.base import Traced
from ..values.boolean import Bool
from ..values.fragment import Fragment, as_node, type_of
from ..values.index import Index
from ..values.mapping import build_map
from ..values.node import Coordinate, ElementOp, join_shapes
from ..values.scalar import Scalar

#: Arguments of a printf on a GPU, at most (CUDA C++ Programming Guide, formatted output).
_MOST = 32

#: Marks the `scf.if` around a printf that may be of one thread of each warpgroup.
_MARK = "smem.first_thread"

#: Ops whose results differ from thread to thread, or may; others have the threads of their operands.
_OF_THREADS = re.compile(
    r"gpu\.(thread_id|lane_id|subgroup_id|global_id|shuffle)|nvvm\.|llvm\.|memref\.(generic_)?atomic|smem\.to_reg"
)

#: The bits of a thread's number that are zero in the thread that prints a value that several threads
#: have, by the axis that a slice lacks: four threads of a quad have a row, all quads have the columns.
_COPIES = {None: 0, 1: 0b11, 0: 0b1111100}
_FIRST_OF_WARPGROUP = 0b1111111


@op_builder
def print_(prefix: str, *values: Any) -> None:
    """Print values while the kernel runs, on a GPU as on the emulator, one line at a time.

    A line has the block, the thread, for a fragment the row and the column (of a slice the one of them),
    the prefix and the values: `pid (0, 0, 0) thread 5 (1, 2) x: 0.5`. Of fragments each element is
    printed, by the thread that has it. Other values are printed once for each warpgroup that executes
    this, by its first thread; by each thread, where the values or a condition around differ by thread.
    `sl.when` chooses the blocks or threads that print. The lines of a GPU come when the host
    synchronizes, in any order.

    Args:
        prefix: a text.
        values: fragments of one shape, or slices that are broadcast to it; numbers, indices and
            conditions of the kernel; Python's own values. A tile or a window is loaded first.

    Raises:
        TraceError: for another prefix, a tile, an array, a window, or more values than a printf has.

    Example:
        >>> sl.print("row", sl.block_id(0) * 64, 64)
        >>> with sl.when(sl.block_id(0) == 0):
        ...     sl.print("scores and maxima", scores, scores.max(axis=1))
    """
    if not isinstance(prefix, str):
        raise TraceError(f'sl.print begins with a text, as in sl.print("x", x), not {prefix!r}')
    for value in values:
        if not isinstance(value, Fragment | Scalar | Index | Bool) and hasattr(value, "type_text"):
            raise TraceError(
                f"{describe_memory(value)} is printed; expected fragments and numbers, such as "
                "sl.load of it"
            )
    traced = [value for value in values if isinstance(value, Traced)]
    nodes = tuple(as_node(value, type_of(value)) for value in traced)
    shape, axis = join_shapes(nodes)
    dims = [dim for dim in (0, 1) if dim != axis] if shape is not None else []
    if (count := 4 + len(dims) + len(nodes)) > _MOST:
        raise TraceError(f"sl.print has {count} numbers, with the block's; a GPU prints {_MOST}")
    texts = [
        _conversion(type_of(value)) if isinstance(value, Traced) else _literal(str(value))
        for value in values
    ]
    place = f" ({', '.join(['%lld'] * len(dims))})" if dims else ""
    line = " ".join([f"{_literal(prefix)}:", *texts])
    text = f"pid (%lld, %lld, %lld) thread %lld{place} {line}\n"
    types = [node.dtype for node in nodes] + [index] * len(dims)
    if not any(isinstance(value, Fragment) for value in traced):
        _print(text, [value.value for value in traced], types, 0, _FIRST_OF_WARPGROUP)
        current().prints = True
        return

    def build(*computed: Any) -> Any:
        _print(text, computed, types, len(dims), _COPIES[axis])
        return elements.constant(0, i32)

    operands = (*nodes, *(Coordinate(index, None, None, dim) for dim in dims))
    node = ElementOp(i32, shape, axis, "print", operands, current().here(), build=build)
    build_map(node)


def _literal(text: str) -> str:
    return text.replace("%", "%%")


def _conversion(dtype: DType) -> str:
    return {f64: "%.16g"}.get(dtype, "%.8g") if dtype.is_float else "%lld"


def _print(
    text: str, values: Sequence[Any], types: Sequence[DType], positions: int, zeros: int
) -> None:
    """Emit a printf of the block, the thread, the last values, which are positions, and the others.

    Args:
        text: the format.
        values, types: MLIR values and their types.
        positions: how many of them are positions.
        zeros: the bits of the thread's number that are zero where it prints.
    """
    thread = gpu.thread_id(gpu.Dimension.x)
    blocks = [gpu.block_id(dim) for dim in (gpu.Dimension.x, gpu.Dimension.y, gpu.Dimension.z)]
    arguments = list(zip([*blocks, thread, *values], [index] * 4 + [*types], strict=True))
    first = len(arguments) - positions
    arguments[4:] = arguments[first:] + arguments[4:first]
    with emit.scf_if(emit.compare("eq", emit.binary("andi", thread, zeros), 0)):
        converted = [_argument(*argument) for argument in arguments]
        printf = emit.op("gpu.printf", converted, format=ir.StringAttr.get(text))
    if zeros == _FIRST_OF_WARPGROUP:
        printf.operation.parent.attributes[_MARK] = ir.UnitAttr.get()


def _argument(value: Any, dtype: DType) -> Any:
    if not dtype.is_float:
        return elements.build_conversion(value, dtype, i64)
    value = elements.build_conversion(value, dtype, f32) if dtype.bits < 32 else value
    return elements.build_conversion(value, f32 if dtype.bits < 32 else dtype, f64)


def finish_prints(function: Any) -> None:
    """Let all threads print that execute a printf of one thread, where they may print something else.

    It is known when the loops are built whose variables are printed.

    Args:
        function: the traced `gpu.func`.
    """
    for branch in walk(function, "scf.if"):
        if _MARK not in branch.attributes:
            continue
        del branch.attributes[_MARK]
        (printf,) = walk(branch, "gpu.printf")
        outer = list(ancestors_of(branch))
        values = [*list(printf.operands)[4:], *(v for op in outer for v in _conditions(op))]
        if any(op.name == "smem.elect" for op in outer) or _differ(values):
            with ir.InsertionPoint(branch), branch.location:
                branch.operands[0] = arith.constant(ir.IntegerType.get_signless(1), 1)


def _conditions(op: Any) -> list[Any]:
    """Return the values on which it depends which threads execute the body of an op, and how often."""
    count = {"scf.if": 1, "scf.for": 3}.get(op.name)
    return _inputs(op) if count is None else list(op.operands)[:count]


def _inputs(op: Any) -> list[Any]:
    """Return the operands of an op, and of the ends of its blocks."""
    blocks = [block for region in op.regions for block in region.blocks]
    ends = [list(block.operations)[-1] for block in blocks if len(list(block.operations))]
    return [*op.operands, *(value for end in ends for value in end.operation.operands)]


def _differ(values: list[Any]) -> bool:
    """Return whether values may differ among the threads of a warpgroup, by what computes them."""
    seen: set[Any] = set()
    while values:
        value = values.pop()
        is_argument = isinstance(value.owner, ir.Block)
        op = (value.owner.owner if is_argument else value.owner).operation
        key = (op_address(op), is_argument and value.arg_number == 0)
        if key in seen or op.name == "gpu.func":
            continue
        seen.add(key)
        if _OF_THREADS.match(op.name):
            return True
        if op.name == "arith.divui" and _is_warpgroup(op.operands[1]):
            continue
        is_counter = is_argument and op.name == "scf.for" and value.arg_number == 0
        values += _conditions(op) if is_counter else _inputs(op)
    return False


def _is_warpgroup(divisor: Any) -> bool:
    """Return whether a divisor is the number of threads of a warpgroup, which have one quotient."""
    constant = divisor.owner
    if isinstance(constant, ir.Block) or constant.operation.name != "arith.constant":
        return False
    return ir.IntegerAttr(constant.operation.attributes["value"]).value == WARPGROUP
