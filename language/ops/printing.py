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
from ...layout.fragments import WARPGROUP
from ..dtypes import DType, dtype_of, e4m3, e5m2, f32, f64, i32, i64, index
from ..errors import TraceError
from ..trace import current, op_builder
from ..values import elements
from ..values.base import Traced, describe
from ..values.boolean import Bool
from ..values.fragment import Fragment, as_node
from ..values.index import Index
from ..values.mapping import build_map
from ..values.node import Coordinate, ElementExpr, ElementOp, join_shapes
from ..values.scalar import Scalar

#: Arguments of a printf on a GPU, at most (CUDA C++ Programming Guide, formatted output).
_MOST = 32

#: Marks the `scf.if` around a printf that may be of one thread of each warpgroup.
_MARK = "smem.first_thread"

#: Ops whose results differ from thread to thread, or may; others have the threads of their operands.
_OF_THREADS = re.compile(
    r"gpu\.(thread_id|lane_id|subgroup_id|global_id|shuffle)|nvvm\.|llvm\.|memref\.(generic_)?atomic|smem\.to_reg"
)

#: The constant by which a thread's number is divided for that of its warpgroup.
_WARPGROUP = re.compile(rf'%\w+ = "?arith\.constant\b.*\b{WARPGROUP} : index')

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
                f"{describe(value)} is printed; expected fragments and numbers, such as "
                "sl.load of it"
            )
    values = tuple(
        value.to(f32)
        if isinstance(value, Fragment | Scalar) and value.dtype in (e4m3, e5m2)
        else value
        for value in values
    )
    traced = [value for value in values if isinstance(value, Traced)]
    nodes = [as_node(value, dtype_of(value)) for value in traced]
    shape, axis = join_shapes(tuple(nodes))
    dims = [dim for dim in (0, 1) if shape is not None and dim != axis]
    places = [Coordinate(index, None, None, dim) for dim in dims]
    if (count := 4 + len(dims) + len(nodes)) > _MOST:
        raise TraceError(f"sl.print has {count} numbers, with the block's; a GPU prints {_MOST}")
    words = [
        value if isinstance(value, Traced) else str(value) for value in (f"{prefix}:", *values)
    ]
    words = [
        w.replace("%", "%%") if isinstance(w, str) else _conversion(dtype_of(w)) for w in words
    ]
    position = f" ({', '.join(['%lld'] * len(dims))})" if dims else ""
    text = f"pid (%lld, %lld, %lld) thread %lld{position} {' '.join(words)}\n"
    if not any(isinstance(value, Fragment) for value in traced):
        _print(text, [value.value for value in traced], nodes, _FIRST_OF_WARPGROUP)
        current().prints = True
        return
    operands = (*places, *nodes)

    def build(*computed: Any) -> Any:
        _print(text, computed, operands, _COPIES[axis])
        return elements.constant(0, i32)

    build_map(ElementOp(i32, shape, axis, "print", operands, current().here(), build=build))


def _conversion(dtype: DType) -> str:
    return {f64: "%.16g"}.get(dtype, "%.8g") if dtype.is_float else "%lld"


def _print(text: str, values: Sequence[Any], nodes: Sequence[ElementExpr], zeros: int) -> None:
    """Emit a printf of the block, the thread and values.

    Args:
        text: the format.
        values, nodes: MLIR values and what they are of.
        zeros: the bits of the thread's number that are zero where it prints.
    """
    thread = gpu.thread_id(gpu.Dimension.x)
    places = [*map(gpu.block_id, (gpu.Dimension.x, gpu.Dimension.y, gpu.Dimension.z)), thread]
    with emit.scf_if(emit.compare("eq", emit.binary("andi", thread, zeros), 0)):
        arguments = [_argument(value, index) for value in places]
        arguments += [_argument(v, node.dtype) for v, node in zip(values, nodes, strict=True)]
        printf = emit.op("gpu.printf", arguments, format=ir.StringAttr.get(text))
    if zeros == _FIRST_OF_WARPGROUP:
        printf.operation.parent.attributes[_MARK] = ir.UnitAttr.get()


def _argument(value: Any, dtype: DType) -> Any:
    if not dtype.is_float:
        return elements.build_conversion(value, dtype, i64)
    if dtype != f64:
        value = elements.build_conversion(value, dtype, f32)
    return elements.build_conversion(value, f64 if dtype == f64 else f32, f64)


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
        if op.name == "arith.divui" and _WARPGROUP.match(str(op.operands[1].owner)):
            continue  # the number of the warpgroup
        is_counter = is_argument and op.name == "scf.for" and value.arg_number == 0
        values += _conditions(op) if is_counter else _inputs(op)
    return False
