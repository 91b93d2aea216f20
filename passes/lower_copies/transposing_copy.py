"""A copy in blocks that each thread transposes in its registers; see `layout.transposition`."""

from ...bindings.irtypes import Attribute, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops.copy import rounds
from ...ir import emit
from ...ir.i32 import I32
from ...layout import Transposition
from ...layout.transposition import REGISTER_BYTES
from .endpoints import RegisterBlock, Source, TileEndpoint
from .transpose import transposed

#: The registers of each line that was read, or will be written.
Lines = list[list[Value]]


class TransposingCopy:
    """The rounds of a copy; in each, every thread reads, transposes and writes one block."""

    def __init__(
        self, copy: Op, source: Source, target: TileEndpoint, plan: Transposition, thread: Value
    ) -> None:
        self.source, self.target = source, target
        self.plan, self.thread = plan, thread
        self._rounds_values = rounds(copy.source.type, copy.tile.type)

    def emit(self) -> None:
        """Emit all rounds."""
        for round_ in range(self.plan.rounds):
            left = self.plan.total - round_ * self.plan.threads
            if left < self.plan.threads:
                with emit.scf_if(emit.compare("ult", self.thread, left)):
                    self._move(round_)
            else:
                self._move(round_)

    def _move(self, round_: int) -> None:
        """Emit the copy of the thread's block in a round."""
        plan = self.plan
        block = emit.binary("addi", self.thread, round_ * plan.threads)
        lane = emit.binary("remui", block, plan.lanes)
        rest = emit.binary("divui", block, plan.lanes)
        across = emit.binary("remui", rest, plan.blocks[1])
        outer = emit.binary("divui", rest, plan.blocks[1])
        along = emit.binary("addi", emit.binary("muli", outer, plan.lanes), lane)
        along = emit.binary("muli", along, plan.stored)
        across = emit.binary("muli", across, plan.read)
        # Elements along a line of the tile are in consecutive lines of the source.
        first = plan.first_read(I32(self.thread)).value if plan.source_skew > 1 else None
        size = plan.read * plan.element.bits // 8
        lines = self.source.lines(RegisterBlock(plan, round_, along, across, first))
        read = self._skewed([self._loaded(line, size) for line in lines], first, plan.source_skew)
        self._write(self._transposed(read), across, along)

    def _loaded(self, source: Value, size: int) -> list[Value]:
        alignment = ir.IntegerAttr.get(emit.i64(), size)
        if size < REGISTER_BYTES:
            narrow = ir.IntegerType.get_signless(size * 8)
            value = emit.value("llvm.load", (source,), narrow, alignment=alignment)
            return [emit.value("arith.extui", (value,), emit.i32())]
        if size == REGISTER_BYTES:
            loaded = [emit.value("llvm.load", (source,), emit.i32(), alignment=alignment)]
        else:
            count = size // REGISTER_BYTES
            vector = ir.VectorType.get([count], emit.i32())
            value = emit.value("llvm.load", (source,), vector, alignment=alignment)
            loaded = [emit.extract_element(value, i) for i in range(count)]
        return [self._rounded(register) for register in loaded]

    def _rounded(self, register: Value) -> Value:
        """Return the value that the tile stores for a register: rounded to tf32 where the copy rounds."""
        if not self._rounds_values:
            return register
        return emit.to_tf32(emit.value("llvm.bitcast", (register,), ir.F32Type.get()))

    def _transposed(self, read: Lines) -> Lines:
        """Return the registers of the lines of the tile."""
        side = self.plan.per_register
        bits = self.plan.element.bits
        written: Lines = [[] for _ in range(self.plan.read)]
        for first in range(0, len(read), side):
            for column in range(len(read[0])):
                square = [line[column] for line in read[first : first + side]]
                wanted = min(side, self.plan.read)
                for i, register in enumerate(transposed(square, bits, wanted)):
                    written[column * side + i].append(register)
        return written

    def _write(self, lines: Lines, across: Value, along: Value) -> None:
        """Emit the stores of the block; threads begin with different lines to avoid bank conflicts."""
        begin = None
        if self.plan.skew > 1:
            begin = emit.binary("divui", self.thread, self.plan.skew_period)
            begin = emit.binary("remui", begin, self.plan.skew)
            lines = self._skewed(lines, begin, self.plan.skew)
        size = self.plan.stored * self.plan.element.bits // 8
        for i, registers in enumerate(lines):
            line = i if begin is None else emit.binary("xori", begin, i)
            target = self.target.pointer(emit.binary("addi", across, line), along)
            self._store(registers, target, ir.IntegerAttr.get(emit.i64(), size))

    def _store(self, registers: list[Value], target: Value, alignment: Attribute) -> None:
        value = registers[0]
        if len(registers) > 1:
            vector = ir.VectorType.get([len(registers)], emit.i32())
            value = emit.value("vector.from_elements", registers, vector)
        emit.op("llvm.store", (value, target), alignment=alignment)

    def _skewed(self, lines: Lines, begin: Value, skew: int) -> Lines:
        """Return line `i ^ begin` in the place of line `i`; `begin` is less than `skew`.

        Registers cannot be indexed at run time, so each bit of `begin` selects between two lines.
        """
        bit = 1
        while bit < skew:
            is_set = emit.has_bit(begin, bit)
            lines = [
                [
                    emit.value("arith.select", (is_set, other, own), emit.i32())
                    for own, other in zip(line, lines[i ^ bit], strict=True)
                ]
                for i, line in enumerate(lines)
            ]
            bit *= 2
        return lines
