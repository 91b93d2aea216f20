"""A copy by vectors of 16 bytes that stay as they are, and where the accesses of a copy go."""

from contextlib import AbstractContextManager
from math import prod
from typing import Any

from ...dialect.bindings import ir
from ...dialect.memrefs import contiguous_dim
from ...dialect.ops.copy import packed, rounds
from ...layout import Multiple, TileLayout, Transfer
from ...layout.elements import UNIT_BYTES
from .. import emit
from ..i32 import I32
from ..parts import Part
from ..shared_memory import gep, memory_type, memref_pointer, stride_value
from ..tile_address import TileAddress


class Addresses:
    """Where the accesses of a copy go, in global memory and in the tile."""

    def __init__(self, copy: Any, part: Part, contiguous: int, thread: Any) -> None:
        self.copy, self.part, self.contiguous, self.thread = copy, part, contiguous, thread
        self.layout: TileLayout = part.slice.layout
        source = copy.operands[0]
        self.source = memref_pointer(source, 1)
        self.pitch = stride_value(source, 1 - contiguous_dim(source.type), emit.i64())
        self.element = memory_type(copy.operands[0].type.element_type)
        self.packed = packed(copy.operands[1].type)
        self.rounds = rounds(*(operand.type for operand in copy.operands))
        self.tile = TileAddress(part)

    def shared_address(self, line: Any, along: Any) -> Any:
        """A pointer to where a vector goes in the tile."""
        indices = (along, line) if self.contiguous == 0 else (line, along)
        return self.tile.pointer(self.tile.within(*map(I32, indices)))

    def global_address(self, line: Any, along: Any) -> Any:
        """A pointer to a vector in global memory."""
        i64 = emit.i64()
        offset = emit.binary("muli", emit.value("arith.extui", (line,), i64), self.pitch)
        along = emit.binary("divui", along, self.packed)
        offset = emit.binary("addi", offset, emit.value("arith.extui", (along,), i64))
        return gep(self.source, offset, self.element)

    def lines_further(self, source: Any, lines: int) -> Any:
        """`source` advanced by whole lines of global memory, the same for all threads."""
        if lines == 0:
            return source
        if isinstance(self.pitch, int):
            return gep(source, lines * self.pitch, self.element)
        return gep(source, emit.binary("muli", self.pitch, lines), self.element)

    def guarded(self, left: int) -> AbstractContextManager[None]:
        """Emits what only the first `left` threads do."""
        return emit.guarded(emit.compare("ult", self.thread, left))


class Vectors(Addresses):
    """The accesses that a copy is made of, round by round."""

    def __init__(self, copy: Any, part: Part, transfer: Transfer, thread: Any) -> None:
        super().__init__(copy, part, transfer.contiguous, thread)
        self.transfer = transfer

    def emit(self) -> None:
        """Emits all rounds; addresses are computed anew only where a round is no constant step."""
        anchor, target, source = 0, None, None
        for round_ in range(self.transfer.rounds):
            step = self._constant_step(anchor, round_)
            if target is None or step is None:
                anchor, step = round_, 0
                line, along = self._coordinates(round_)
                target = self.shared_address(line, along)
                source = self.global_address(line, along)
            lines = (round_ - anchor) * self.transfer.threads // self.transfer.per_line
            access = (self.lines_further(source, lines), gep(target, step))
            left = self.transfer.total - round_ * self.transfer.threads
            if left < self.transfer.threads:
                with self.guarded(left):
                    self._emit_access(*access)
            else:
                self._emit_access(*access)

    def _coordinates(self, round_: int) -> tuple[Any, Any]:
        """(line, elements along it) of the thread's vector in a round."""
        line, along = self.transfer.place(I32(self.thread) + round_ * self.transfer.threads)
        return line.value, along.value

    def _constant_step(self, anchor: int, round_: int) -> int | None:
        """Bytes from every thread's vector in round `anchor` to its vector in `round_`.

        None if they differ between threads, or depend on a run-time origin, or if the step would
        change the swizzle's phase.
        """
        lines, across = (round_ - anchor) * self.transfer.threads, 1 - self.transfer.contiguous
        if lines % (self.transfer.per_line * self.transfer.lines):
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


def _rounded(loaded: Any) -> Any:
    """Four f32, as the bits of an i32 vector, rounded to tf32."""
    floats = emit.value("llvm.bitcast", (loaded,), ir.VectorType.get([4], ir.F32Type.get()))
    parts = [emit.to_tf32(emit.extracted(floats, i)) for i in range(4)]
    return emit.value("vector.from_elements", parts, loaded.type)
