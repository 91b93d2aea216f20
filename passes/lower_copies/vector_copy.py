"""A copy by vectors of 16 bytes, without transposition."""

from typing import Any

from ...bindings.irtypes import Op, Value
from ...bindings.mlir import ir
from ...dialect.effects import Completion
from ...dialect.ops.copy import rounds
from ...ir import emit
from ...ir.i32 import I32
from ...layout import Transfer
from ...layout.elements import UNIT_BYTES
from .endpoints import TileEndpoint, VectorSource


class VectorCopy:
    """The rounds of a copy; in each, every thread moves one vector."""

    def __init__(
        self,
        copy: Op,
        source: VectorSource,
        target: TileEndpoint,
        transfer: Transfer,
        thread: Value,
    ) -> None:
        self.copy, self.thread, self.transfer = copy, thread, transfer
        self.source, self.target = source, target
        self._rounds_values = rounds(copy.source.type, copy.tile.type)

    def emit(self) -> None:
        """Emit all rounds; an address is computed again only where its distance is not a constant."""
        source, target = self.source, self.target
        anchor = 0
        source_anchor: Any = None
        target_anchor: Any = None
        for round_ in range(self.transfer.rounds):
            source_step = source.step(self.transfer, anchor, round_)
            target_step = target.step(self.transfer, anchor, round_)
            if source_anchor is None or source_step is None or target_step is None:
                anchor, source_step, target_step = round_, 0, 0
                coordinates = self._coordinates(round_)
                target_anchor = target.pointer(*coordinates)
                source_anchor = source.pointer(*coordinates)
            pointers = (
                source.advance(source_anchor, source_step),
                target.advance(target_anchor, target_step),
            )
            remaining = self.transfer.total - round_ * self.transfer.threads
            if remaining < self.transfer.threads:
                with emit.scf_if(emit.compare("ult", self.thread, remaining)):
                    self._emit_access(*pointers)
            else:
                self._emit_access(*pointers)

    def _coordinates(self, round_: int) -> tuple[Value, Value]:
        """Return (line, elements along it) of the thread's vector in a round."""
        line, along = self.transfer.place(I32(self.thread) + round_ * self.transfer.threads)
        return line.value, along.value

    def _emit_access(self, source: Value, target: Value) -> None:
        if self.copy.effects.completion is Completion.CP_ASYNC_GROUP:
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
        if self._rounds_values:
            loaded = _round_to_tf32(loaded)
        emit.op("llvm.store", (loaded, target), alignment=alignment)


def _round_to_tf32(loaded: Value) -> Value:
    """Return four f32, whose bits are an i32 vector, rounded to tf32."""
    floats = emit.value("llvm.bitcast", (loaded,), ir.VectorType.get([4], ir.F32Type.get()))
    elements = [emit.to_tf32(emit.extract_element(floats, i)) for i in range(4)]
    return emit.value("vector.from_elements", elements, loaded.type)
