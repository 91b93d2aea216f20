"""`smem-lower-copies`: copies and fences become NVVM and LLVM; tiles themselves disappear."""

from dataclasses import dataclass
from math import prod
from typing import Any

from ..dialect.bindings import ir
from ..dialect.memrefs import contiguous_dim
from ..dialect.ops.copy import packed, rounds
from ..dialect.types import shape_of
from ..layout import Multiple, Swizzle, TileLayout, Transfer
from ..layout.elements import UNIT_BYTES
from ..layout.swizzle import PHASE_BIT
from . import emit
from .base import OpError, Pass
from .kernel import required_block_size, walk
from .parts import PARTS, ROOTS, Part, part_from
from .shared_memory import gep, memref_pointer, root_pointer, stride_value
from .threads import linear_thread

_COPIES = ("smem.copy", "smem.copy_async")


@dataclass(frozen=True)
class LowerCopies(Pass):
    """Copies become 16-byte accesses of all threads at swizzled addresses.

    Afterwards only fragments are left of `smem`: allocs, views, stages and subtiles are erased.
    """

    name = "smem-lower-copies"
    description = "lower copies and fences to NVVM and LLVM, and erase what only named tiles"

    def run(self, module: Any) -> None:
        for copy in walk(module, *_COPIES):
            with ir.InsertionPoint(copy), copy.location:
                _lower_copy(copy)
            copy.operation.erase()
        for op in walk(module, "smem.copy_commit", "smem.copy_wait", "smem.fence"):
            with ir.InsertionPoint(op), op.location:
                _lower_ordering(op)
            op.operation.erase()
        for tile in reversed(list(walk(module, *ROOTS, *PARTS))):
            if next(iter(tile.results[0].uses), None) is not None:
                user = next(iter(tile.results[0].uses)).owner.operation.name
                raise OpError(
                    tile, f"is still used by '{user}'; run smem-materialize-descriptors before"
                )
            tile.operation.erase()


def _lower_ordering(op: Any) -> None:
    if op.operation.name == "smem.fence":
        emit.op(
            "nvvm.fence.proxy",
            kind=ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
            space=ir.Attribute.parse("#nvvm.shared_space<cta>"),
        )
    elif op.operation.name == "smem.copy_commit":
        emit.op("nvvm.cp.async.commit.group")
    else:
        emit.op("nvvm.cp.async.wait.group", n=_i32_attr(op.attributes["pending"]))


def _i32_attr(attr: Any) -> Any:
    return ir.IntegerAttr.get(emit.i32(), ir.IntegerAttr(attr).value)


def _lower_copy(copy: Any) -> None:
    """Deals the tile's 16-byte vectors to the threads; see `layout.transfer`."""
    source, tile = copy.operands
    size = required_block_size(copy)
    part = part_from(tile, copy)
    layout = part.slice.layout
    transfer = Transfer(
        layout.element,
        shape_of(tile.type),
        contiguous_dim(source.type),
        prod(size),
    )
    if part.slice.multiple % transfer.vector:
        raise OpError(
            copy,
            f"writes a part that begins {part.slice.multiple} elements or a multiple of that into "
            f"its tile; 16-byte accesses need multiples of {transfer.vector}",
        )
    Vectors(copy, part, transfer, linear_thread(size)).emit()


class Vectors:
    """The accesses that a copy is made of, round by round."""

    def __init__(self, copy: Any, part: Part, transfer: Transfer, thread: Any) -> None:
        self.copy, self.part, self.transfer, self.thread = copy, part, transfer, thread
        self.layout: TileLayout = part.slice.layout
        self.source = memref_pointer(copy.operands[0], 1)
        self.pitch = stride_value(copy.operands[0], 1 - transfer.contiguous, emit.i64())
        self.element = _stored_type(copy.operands[0].type.element_type)
        self.packed = packed(copy.operands[1].type)
        self.rounds = rounds(*(operand.type for operand in copy.operands))
        self.base = root_pointer(part.root)
        self.start = self._part_start()

    def emit(self) -> None:
        """Emits all rounds; addresses are computed anew only where a round is no constant step."""
        anchor, target, source = 0, None, None
        for round_ in range(self.transfer.rounds):
            step = self._constant_step(anchor, round_)
            if target is None or step is None:
                anchor, step = round_, 0
                line, along = self._coordinates(round_)
                target = self._shared_address(line, along)
                source = self._global_address(line, along)
            lines = (round_ - anchor) * self.transfer.threads // self.transfer.per_line
            access = (self._lines_further(source, lines), gep(target, step))
            left = self.transfer.total - round_ * self.transfer.threads
            if left < self.transfer.threads:
                self._emit_guarded(*access, left)
            else:
                self._emit_access(*access)

    def _coordinates(self, round_: int) -> tuple[Any, Any]:
        """(line, elements along it) of the thread's vector in a round."""
        vector = emit.binary("addi", self.thread, round_ * self.transfer.threads)
        per_line = self.transfer.per_line
        line = emit.binary("divui", vector, per_line)
        along = emit.binary("remui", vector, per_line)
        return line, emit.binary("muli", along, self.transfer.vector)

    def _constant_step(self, anchor: int, round_: int) -> int | None:
        """Bytes from every thread's vector in round `anchor` to its vector in `round_`.

        None if they differ between threads, or depend on a run-time origin, or if the step would
        change the swizzle's phase.
        """
        lines, across = (round_ - anchor) * self.transfer.threads, 1 - self.transfer.contiguous
        if lines % self.transfer.per_line:
            return None
        if isinstance(self.layout.origins[across], Multiple):
            # Only whole atoms (of the outermost mode) are equally far apart from any origin.
            atom = prod(mode.extent for mode in self.layout.modes[across][:-1])
            if lines // self.transfer.per_line % atom:
                return None
        # An origin along the lines does not change: it takes no part in the difference.
        layout = self.layout.with_origin()
        here = layout.linear_at(*self.transfer.coordinates(round_))
        there = layout.linear_at(*self.transfer.coordinates(anchor))[: len(here)]
        steps = here - there
        size = int(steps[0]) * self.layout.element.bits // 8
        if (steps != steps[0]).any() or size % self.layout.swizzle.pattern_bytes:
            return None
        return size

    def _part_start(self) -> Any:
        """Bytes from the root to the part, before the swizzle (i32); a number if it is constant."""
        unit = self.layout.element.unit
        start: Any = self.part.slice.offset // unit * UNIT_BYTES
        if not self.part.terms:
            return start
        total: Any = None
        for term, value in self.part.terms:
            scaled = emit.term_value(term, value, emit.i32(), unit)
            total = scaled if total is None else emit.binary("addi", total, scaled)
        return emit.binary("addi", emit.binary("muli", total, UNIT_BYTES), start)

    def _shared_address(self, line: Any, along: Any) -> Any:
        """A pointer to where a vector goes: the tile's start, plus the swizzled offset within it."""
        across, contiguous = (
            self._offset(line, 1 - self.transfer.contiguous),
            self._offset(along, self.transfer.contiguous),
        )
        within = emit.binary("addi", across, contiguous)
        bits = self.layout.element.bits
        within = (
            emit.binary("muli", within, bits // 8)
            if bits >= 8
            else emit.binary("divui", within, 8 // bits)
        )
        pattern = self.layout.swizzle.pattern_bytes
        starts_pattern = self.part.slice.multiple * bits // 8 % pattern == 0
        if starts_pattern:
            # Whole patterns do not change the phase: the thread's own offset is swizzled alone, so
            # that it does not depend on the stage.
            swizzled = _swizzle(within, self.layout.swizzle)
            return gep(gep(self.base, self.start), swizzled)
        total = emit.binary("addi", within, self.start)
        return gep(self.base, _swizzle(total, self.layout.swizzle))

    def _offset(self, index: Any, dim: int) -> Any:
        """The element offset of an index along one dimension of the part (i32)."""
        total: Any = None
        index = self._from_origin(index, dim)
        modes = self.layout.modes[dim]
        for position, mode in enumerate(modes):
            last = position == len(modes) - 1
            digit = index if last else emit.binary("remui", index, mode.extent)
            scaled = emit.binary("muli", digit, mode.stride)
            total = scaled if total is None else emit.binary("addi", total, scaled)
            if not last:
                index = emit.binary("divui", index, mode.extent)
        return total

    def _from_origin(self, index: Any, dim: int) -> Any:
        """Where an index lies within the modes of a dimension."""
        origin = self.layout.origins[dim]
        if isinstance(origin, int):
            return emit.binary("addi", index, origin)
        position = self.part.origin[dim]
        begin = emit.position_value(position.values, position.constant, emit.i32())
        return emit.binary("addi", index, begin)

    def _global_address(self, line: Any, along: Any) -> Any:
        """A pointer to a vector in global memory."""
        i64 = emit.i64()
        offset = emit.binary("muli", emit.value("arith.extui", (line,), i64), self.pitch)
        along = emit.binary("divui", along, self.packed)
        offset = emit.binary("addi", offset, emit.value("arith.extui", (along,), i64))
        return gep(self.source, offset, self.element)

    def _lines_further(self, source: Any, lines: int) -> Any:
        """`source` advanced by whole lines of global memory, the same for all threads."""
        if lines == 0:
            return source
        if isinstance(self.pitch, int):
            return gep(source, lines * self.pitch, self.element)
        return gep(source, emit.binary("muli", self.pitch, lines), self.element)

    def _emit_access(self, source: Any, target: Any) -> None:
        if self.copy.operation.name == "smem.copy_async":
            emit.op(
                "nvvm.cp.async.shared.global",
                (target, source),
                size=ir.IntegerAttr.get(emit.i32(), UNIT_BYTES),
                modifier=ir.Attribute.parse("#nvvm<load_cache_modifier cg>"),
            )
            return
        vector = ir.VectorType.get([4], emit.i32())
        alignment = ir.IntegerAttr.get(emit.i64(), UNIT_BYTES)
        loaded = emit.value("llvm.load", (source,), vector, alignment=alignment)
        if self.rounds:
            loaded = _rounded(loaded)
        emit.op("llvm.store", (loaded, target), alignment=alignment)

    def _emit_guarded(self, source: Any, target: Any, left: int) -> None:
        """An access of the first `left` threads only."""
        predicate = ir.IntegerAttr.get(emit.i64(), 6)  # arith.cmpi ult
        inside = emit.value(
            "arith.cmpi",
            (self.thread, emit.constant(left, emit.i32())),
            ir.IntegerType.get_signless(1),
            predicate=predicate,
        )
        branch = ir.Operation.create("scf.if", operands=[inside], regions=2)
        with ir.InsertionPoint(ir.Block.create_at_start(branch.regions[0])):
            self._emit_access(source, target)
            ir.Operation.create("scf.yield")


def _stored_type(element: Any) -> str:
    """The LLVM type of a memref's elements."""
    return (
        str(element)
        if isinstance(element, ir.FloatType) and element.width > 8
        else f"i{element.width}"
    )


def _rounded(loaded: Any) -> Any:
    """Four f32, as the bits of an i32 vector, rounded to tf32."""
    floats = emit.value("llvm.bitcast", (loaded,), ir.VectorType.get([4], ir.F32Type.get()))
    nearest = ir.Attribute.parse("#nvvm.fp_rnd_mode<rna>")
    parts = [
        emit.value(
            "nvvm.convert.float.to.tf32",
            (
                emit.value(
                    "vector.extract",
                    (floats,),
                    ir.F32Type.get(),
                    static_position=ir.DenseI64ArrayAttr.get([i]),
                ),
            ),
            emit.i32(),
            rnd=nearest,
        )
        for i in range(4)
    ]
    return emit.value("vector.from_elements", parts, loaded.type)


def _swizzle(offset: Any, swizzle: Swizzle) -> Any:
    """`Swizzle.apply` in IR: the 16-byte unit's index XOR the line's."""
    if swizzle is Swizzle.NONE:
        return offset
    mask = (swizzle.width // UNIT_BYTES - 1) << 4
    phase = emit.binary("andi", emit.binary("shrui", offset, PHASE_BIT - 4), mask)
    return emit.binary("xori", offset, phase)
