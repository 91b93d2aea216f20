"""`linalg-to-smem-tiles`: products of windows, in a kernel, become copies to tiles and mma."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...bindings.irtypes import Module, Op, Value
from ...bindings.mlir import ir
from ...dialect.build import create
from ...dialect.ops import LoadOp, MmaOp
from ...dialect.ops.alloc import alloc
from ...dialect.ops.copy import copy
from ...dialect.ops.fill import fill
from ...dialect.ops.store import store
from ...dialect.ops.transpose import transpose
from ...dialect.types import fragment
from ...ir import emit
from ...ir.errors import OpError
from ...ir.kernel import ancestors_of, functions_of, threads_of
from ...ir.walk import walk
from ...layout.fragments import WARPGROUP
from ...passes import Pass
from ...passes.insert_sync.insertion_points import ancestor_in
from ...passes.order.effects import ALIASES, base_of
from ...passes.pipelining.rewriting import with_carried, yield_more
from .generic import maps_of
from .unsupported import Unsupported

#: The element types of A and B; sums are f32.
_ELEMENTS = ("bf16", "f16")


@dataclass(frozen=True)
class LinalgToSmemTiles(Pass):
    """Each `linalg.matmul` of windows of a kernel's arrays becomes an mma of tiles, to which its windows
    of A and B are copied. C stays in registers while loops add to it.

    The kernel has one warpgroup, and loops of linalg, which a transform script has tiled. The result is
    in program order, for `smem-warp-specialize`, `smem-pipeline` and `smem-insert-sync`.
    """

    name = "linalg-to-smem-tiles"
    description = "make copies to tiles, and mma, of matmuls in kernels that are tiled"

    def run(self, module: Module) -> None:
        for function in functions_of(module):
            for op in list(walk(function, "linalg.matmul")):
                _check(op, function)
                _lower(op, function, _transposes(op))
            for op in list(walk(function, "linalg.fill")):
                with ir.InsertionPoint(op), op.location:
                    store(_fill_fragment(op), op.operands[1])
                op.erase()


def _check(op: Op, function: Op) -> None:
    """Check that a product is one of tiles.

    Raises:
        OpError: if it is not.
    """
    if threads_of(function) != WARPGROUP:
        raise OpError(
            op,
            f"is in a kernel of {threads_of(function)} threads; expected {WARPGROUP}, a warpgroup",
        )
    for window in op.operands:
        if not isinstance(window.type, ir.MemRefType) or not window.type.has_static_shape:
            raise OpError(op, f"takes {window.type}; expected a memref whose extents are known")
    a, b, c = (str(x.type.element_type) for x in op.operands)
    if base_of(op.operands[2]) in [base_of(x) for x in list(op.operands)[:2]]:
        raise OpError(op, "adds to the array that it reads; expected another one")
    if a not in _ELEMENTS or b != a or c not in ("f32", a):
        raise OpError(op, f"adds {a} * {b} to {c}; expected bf16 or f16, added to f32 or the same")


def _transposes(op: Op) -> tuple[bool, bool]:
    """Return whether a product is of the transposes of its first and its second operand.

    Raises:
        OpError: if it has other maps.
    """
    if "indexing_maps" not in op.attributes:
        return False, False
    maps = op.attributes["indexing_maps"]
    try:
        a, b, c = maps_of(op)
    except Unsupported as error:
        raise OpError(op, str(error)) from None
    if {*a} != {0, 2} or {*b} != {1, 2} or c != (0, 1):
        raise OpError(op, f"has {maps}; expected those of a product, of transposes or not")
    return a == (2, 0), b == (1, 2)


def _lower(op: Op, function: Op, transposes: tuple[bool, bool]) -> None:
    """Replace a product, and the fill of its result before it."""
    a, b, c = op.operands
    loops = list(_adding_loops(op, c))
    outermost = loops[-1] if loops else op
    if loops and not _is_outside(c, outermost):
        c.owner.move_before(outermost)
    with ir.InsertionPoint(outermost), op.location:
        total = _first_total(c, outermost)
    with ir.InsertionPoint.at_block_begin(function.regions[0].blocks[0]), op.location:
        tiles = [alloc(tuple(x.type.shape), x.type.element_type) for x in (a, b)]
    carrying = []
    for loop in reversed(loops):
        carrying.append(with_carried(loop, [total]))
        (*_, total) = carrying[-1].regions[0].blocks[0].arguments
    with ir.InsertionPoint(op), op.location:
        for window, tile in zip((a, b), tiles, strict=True):
            copy(window, tile)
        factors = [
            transpose(tile) if is_transposed else tile
            for tile, is_transposed in zip(tiles, transposes, strict=True)
        ]
        total = create(MmaOp, [*factors, total], [total.type]).result
    for loop in reversed(carrying):
        *_, terminator = loop.regions[0].blocks[0].operations
        with ir.InsertionPoint(terminator), terminator.location:
            yield_more(terminator.operation, [total])
        (*_, total) = loop.results
    behind = ir.InsertionPoint.after(carrying[0]) if carrying else ir.InsertionPoint(op)
    with behind, op.location:
        store(total, c)
    op.erase()


def _adding_loops(op: Op, result: Value) -> Iterator[Op]:
    """Yield the loops around a product, from the inside, that add to the same window, and in which
    nothing else accesses its array."""
    for loop in ancestors_of(op):
        is_window = _is_outside(result, loop) or (
            result.owner.operation.name == "memref.subview"
            and all(_is_outside(x, loop) for x in result.owner.operands)
        )
        others = (x for x in walk(loop) if x != op and x.name not in ALIASES)
        if loop.name != "scf.for" or not is_window or any(_accesses(x, result) for x in others):
            return
        yield loop


def _is_outside(value: Value, loop: Op) -> bool:
    """Whether a value is defined outside of a loop."""
    body, owner = loop.regions[0].blocks[0], value.owner
    if isinstance(owner, ir.Block):
        return owner != body and ancestor_in(body, owner.owner) is None
    return ancestor_in(body, owner) is None


def _accesses(op: Op, window: Value) -> bool:
    """Whether an op takes the array of a window."""
    array = base_of(window)
    return any(isinstance(x.type, ir.MemRefType) and base_of(x) == array for x in op.operands)


def _first_total(window: Value, before: Op) -> Value:
    """Emit what products are added to: the elements of a window, or what a fill writes there before an
    op; it is erased."""
    shape = tuple(window.type.shape)
    earlier = [op.operation for op in before.block.operations]
    for op in reversed(earlier[: earlier.index(before)]):
        if op.name in ALIASES or not any(_accesses(x, window) for x in walk(op)):
            continue
        if op.name == "linalg.fill" and _is_same(op.operands[1], window):
            total = _fill_fragment(op)
            op.erase()
            return total
        break
    return create(LoadOp, [window], [fragment(shape, ir.F32Type.get())]).result


def _fill_fragment(op: Op) -> Value:
    """Emit what a fill writes as a fragment.

    Raises:
        OpError: if its extents are not known.
    """
    scalar, window = op.operands
    if not isinstance(window.type, ir.MemRefType) or not window.type.has_static_shape:
        raise OpError(op, f"takes {window.type}; expected a memref whose extents are known")
    f32 = ir.F32Type.get()
    number = scalar if scalar.type == f32 else emit.value("arith.extf", (scalar,), f32)
    return fill(number, tuple(window.type.shape))


def _is_same(window: Value, other: Value) -> bool:
    """Whether two windows are the same one."""
    if window == other:
        return True
    ops = [x.owner for x in (window, other)]
    if any(isinstance(op, ir.Block) or op.name != "memref.subview" for op in ops):
        return False
    one, two = (op.operation for op in ops)
    return list(one.operands) == list(two.operands) and str(one.attributes) == str(two.attributes)
