"""A copy by vectors of 16 bytes that stay as they are."""

from typing import Any

from ...dialect.bindings import ir
from ...dialect.effects import Completion
from ...dialect.ops.copy import rounds
from ...ir import emit
from ...ir.i32 import I32
from ...layout import Transfer
from ...layout.elements import UNIT_BYTES
from .ends import TileEnd, VectorSource


class Vectors:
    """The accesses that a copy is made of, round by round."""

    def __init__(
        self, copy: Any, source: VectorSource, target: TileEnd, transfer: Transfer, thread: Any
    ) -> None:
        self.copy, self.thread, self.transfer = copy, thread, transfer
        self.source, self.target = source, target
        self.rounds = rounds(copy.source.type, copy.tile.type)

    def emit(self) -> None:
        """Emits all rounds; addresses are computed anew only where a round is no constant step."""
        source, target = self.source, self.target
        anchor, read, written = 0, None, None
        for round_ in range(self.transfer.rounds):
            further = source.step(self.transfer, anchor, round_)
            step = target.step(self.transfer, anchor, round_)
            if read is None or further is None or step is None:
                anchor, further, step = round_, 0, 0
                place = self._coordinates(round_)
                written = target.pointer(*place)
                read = source.pointer(*place)
            access = source.further(read, further), target.further(written, step)
            left = self.transfer.total - round_ * self.transfer.threads
            if left < self.transfer.threads:
                with emit.guarded(emit.compare("ult", self.thread, left)):
                    self._emit_access(*access)
            else:
                self._emit_access(*access)

    def _coordinates(self, round_: int) -> tuple[Any, Any]:
        """(line, elements along it) of the thread's vector in a round."""
        line, along = self.transfer.place(I32(self.thread) + round_ * self.transfer.threads)
        return line.value, along.value

    def _emit_access(self, source: Any, target: Any) -> None:
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
        if self.rounds:
            loaded = _rounded(loaded)
        emit.op("llvm.store", (loaded, target), alignment=alignment)


def _rounded(loaded: Any) -> Any:
    """Four f32, as the bits of an i32 vector, rounded to tf32."""
    floats = emit.value("llvm.bitcast", (loaded,), ir.VectorType.get([4], ir.F32Type.get()))
    subtiles = [emit.to_tf32(emit.extracted(floats, i)) for i in range(4)]
    return emit.value("vector.from_elements", subtiles, loaded.type)
