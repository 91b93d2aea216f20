"""A copy in blocks that each thread transposes in its registers; see `layout.transposition`."""

from typing import Any

from ...bindings.irtypes import Attribute, Op, Value
from ...bindings.mlir import ir
from ...dialect.ops.copy import rounds
from ...ir import emit
from ...ir.i32 import I32
from ...layout import Transposition
from ...layout.transposition import REGISTER_BYTES
from .endpoints import BlockSource, RegisterBlock, TileEndpoint

#: Selectors of `prmt` (PTX ISA 9.7.9.7) that combine the even fields of two registers, and the odd
#: fields, by the bits of a field; bytes 4 to 7 are those of the second register.
_SELECTORS = {16: (0x5410, 0x7632), 8: (0x6240, 0x7351)}

#: Masks of the even fields of a register, for fields smaller than a byte, by the bits of a field.
_EVEN_FIELDS = {4: 0x0F0F0F0F, 2: 0x33333333, 1: 0x55555555}

#: The registers of each line that was read, or will be written.
Lines = list[list[Value]]


class TransposingCopy:
    """The rounds of a copy; in each, every thread reads, transposes and writes one block."""

    def __init__(
        self,
        copy: Op,
        source: BlockSource,
        target: TileEndpoint,
        plan: Transposition,
        thread: Value,
    ) -> None:
        self.source, self.target = source, target
        self.plan, self.thread = plan, thread
        self._rounds_values = rounds(copy.source.type, copy.tile.type)

    def emit(self) -> None:
        """Emit all rounds."""
        for round_ in range(self.plan.rounds):
            remaining = self.plan.total - round_ * self.plan.threads
            if remaining < self.plan.threads:
                with emit.scf_if(emit.compare("ult", self.thread, remaining)):
                    self._move(round_)
            else:
                self._move(round_)

    def _move(self, round_: int) -> None:
        """Emit the copy of the thread's block in a round."""
        plan = self.plan
        block = emit.binary("addi", self.thread, round_ * plan.threads)
        lane = emit.binary("remui", block, plan.lanes)
        group = emit.binary("divui", block, plan.lanes)
        across = emit.binary("remui", group, plan.blocks[1])
        outer = emit.binary("divui", group, plan.blocks[1])
        along = emit.binary("addi", emit.binary("muli", outer, plan.lanes), lane)
        along = emit.binary("muli", along, plan.stored)
        across = emit.binary("muli", across, plan.read)
        # Elements along a line of the tile are in consecutive lines of the source.
        first = plan.first_read(I32(self.thread)).value if plan.source_skew > 1 else None
        size = plan.read * plan.element.bits // 8
        pointers = self.source.lines(RegisterBlock(plan, round_, along, across, first))
        lines = [self._load(pointer, size) for pointer in pointers]
        lines = self._skew(lines, first, plan.source_skew)
        self._write(self._transpose(lines), across, along)

    def _load(self, source: Value, size: int) -> list[Value]:
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
        return [self._round(register) for register in loaded]

    def _round(self, register: Value) -> Value:
        """Return the value that the tile stores for a register, rounded to tf32 if the copy rounds."""
        if not self._rounds_values:
            return register
        return emit.to_tf32(emit.value("llvm.bitcast", (register,), ir.F32Type.get()))

    def _transpose(self, lines: Lines) -> Lines:
        """Return the registers of the lines of the tile."""
        side = self.plan.per_register
        bits = self.plan.element.bits
        written: Lines = [[] for _ in range(self.plan.read)]
        for first in range(0, len(lines), side):
            for column in range(len(lines[0])):
                square = [line[column] for line in lines[first : first + side]]
                count = min(side, self.plan.read)
                for i, register in enumerate(transpose_square(square, bits, count)):
                    written[column * side + i].append(register)
        return written

    def _write(self, lines: Lines, across: Value, along: Value) -> None:
        """Emit the stores of the block; threads begin with different lines to avoid bank conflicts."""
        begin = None
        if self.plan.skew > 1:
            begin = emit.binary("divui", self.thread, self.plan.skew_period)
            begin = emit.binary("remui", begin, self.plan.skew)
            lines = self._skew(lines, begin, self.plan.skew)
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

    def _skew(self, lines: Lines, begin: Any, skew: int) -> Lines:
        """Return lines in the order `i ^ begin`; `begin` is less than `skew`.

        Registers cannot be indexed at run time, so each bit of `begin` selects between two lines.
        """
        bit = 1
        while bit < skew:
            is_set = emit.has_bit(begin, bit)
            lines = [
                [
                    emit.value("arith.select", (is_set, far, register), emit.i32())
                    for register, far in zip(line, lines[i ^ bit], strict=True)
                ]
                for i, line in enumerate(lines)
            ]
            bit *= 2
        return lines


def transpose_square(square: list[Value], bits: int, count: int) -> list[Value]:
    """Transpose a square block in registers; return its columns.

    Quadrants are exchanged, then the quadrants of these, and so on. 32 columns of b1 take five steps.

    Args:
        square: the rows, each in one register (i32); there are as many as elements in a register.
        bits: of an element.
        count: the number of columns to return, from the first; a power of two.
    """
    distance = len(square) // 2
    while distance:
        halves = list(square)
        for i in range(len(square)):
            if i & distance == 0:
                pair = square[i], square[i + distance]
                halves[i], halves[i + distance] = _exchange_fields(*pair, distance * bits)
        # From here on, columns from `distance` on are in the second half.
        square = halves[:distance] if count <= distance else halves
        distance //= 2
    return square


def _exchange_fields(upper: Value, lower: Value, bits: int) -> tuple[Value, Value]:
    """Return the even fields of two registers, and the odd fields; a field has `bits` bits."""
    if bits in _SELECTORS:
        even, odd = _SELECTORS[bits]
        return _select_bytes(upper, lower, even), _select_bytes(upper, lower, odd)
    mask = _EVEN_FIELDS[bits]
    above = mask << bits
    even = emit.binary(
        "ori",
        emit.binary("andi", upper, mask),
        emit.binary("andi", emit.binary("shli", lower, bits), above),
    )
    odd = emit.binary(
        "ori",
        emit.binary("andi", emit.binary("shrui", upper, bits), mask),
        emit.binary("andi", lower, above),
    )
    return even, odd


def _select_bytes(first: Value, second: Value, selector: int) -> Value:
    """Emit `prmt.b32`: a register of bytes that are selected from two others."""
    mode = ir.Attribute.parse("#nvvm.permute_mode<default>")
    selected = emit.constant(selector, emit.i32())
    return emit.value("nvvm.prmt", (first, second, selected), emit.i32(), mode=mode)
