"""Copies by all threads of the CTA: each thread moves its share, 16 bytes at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any, Protocol

import numpy as np

from ...bindings.irtypes import Attribute, Op, Type, Value
from ...bindings.mlir import ir
from ...dialect.effects import Completion
from ...dialect.memrefs import contiguous_dim
from ...dialect.ops import CopyAsyncOp, CopyOp
from ...dialect.ops.copy import packing_factor, rounds
from ...ir import emit
from ...ir.errors import OpError
from ...ir.i32 import I32
from ...ir.kernel import required_block_size
from ...ir.shared_memory import gep, memory_type, memref_pointer, stride_value
from ...ir.subtiles import Subtile, check_units, subtile_from
from ...ir.threads import linear_thread
from ...ir.tile_address import SteppedAddress, TileAddress
from ...layout import Multiple, TileLayout, Transfer, Transposition
from ...layout.elements import UNIT_BYTES
from ...layout.tcgen05.scales import LANES
from ...layout.transposition import REGISTER_BYTES
from .bounded import BoundedMatrix
from .lowerings import LOWERINGS, TensorMaps
from .scale_factors import ScaleBlockSource, scale_blocks_of


@LOWERINGS.of(CopyOp, CopyAsyncOp)
def lower_copy(copy: CopyOp | CopyAsyncOp, _: TensorMaps) -> None:
    """Distribute the elements of a copy to the threads; see `layout.transfer`, `layout.transposition`."""
    size = required_block_size(copy)
    subtile = _subtile(copy, copy.tile, "writes")
    if copy.reads_scale_blocks:
        _copy_scale_blocks(copy, subtile, linear_thread(size), prod(size))
        return
    source_tile = _subtile(copy, copy.source, "reads") if copy.reads_tile else None
    transfer = copy.transfer(prod(size), source_tile.slice.layout if source_tile else None)
    if problem := transfer.problem(subtile.slice.layout):
        raise OpError(copy, problem)
    plan = transfer.plan(subtile.slice.layout)
    thread = linear_thread(size)
    source = _TileEndpoint(source_tile) if source_tile else _GlobalSource(copy)
    target = _TileEndpoint(subtile)
    if isinstance(plan, Transposition):
        _TransposingCopy(copy, source, target, plan, thread).emit()
    else:
        _VectorCopy(copy, source, target, plan, thread).emit()


def _copy_scale_blocks(copy: Op, subtile: Subtile, thread: Value, threads: int) -> None:
    """Emit a copy of blocks of scale factors by all threads, 16 bytes of each thread at a time."""
    blocks = scale_blocks_of(subtile)
    lines = blocks.lines
    transfer = Transfer(lines.element, lines.shape, 1, threads)
    target = _TileEndpoint(replace(subtile, slice=replace(subtile.slice, layout=lines)))
    source = ScaleBlockSource(copy.source, LANES * len(blocks.offsets[0]))
    _VectorCopy(copy, source, target, transfer, thread).emit()


def _subtile(copy: Op, tile: Value, verb: str) -> Subtile:
    """Return the subtile that an operand of a copy is.

    Raises:
        OpError: if it does not begin at a multiple of 16 bytes.
    """
    subtile = subtile_from(tile, copy)
    check_units(subtile, copy, verb, "16-byte accesses need multiples of {}")
    return subtile


class _VectorCopy:
    """The rounds of a copy; in each, every thread moves one vector."""

    def __init__(
        self,
        copy: Op,
        source: _VectorSource,
        target: _TileEndpoint,
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
                round_,
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

    def _emit_access(self, source: Value, target: Value, round_: int) -> None:
        bounds, bytes_there = self.source.bounds, None
        if bounds is not None:
            bytes_there = bounds.bytes_from(*self._coordinates(round_), UNIT_BYTES)
        if self.copy.effects.completion is Completion.CP_ASYNC_GROUP:
            # What is behind the bytes of the matrix is filled with zeros.
            emit.op(
                "nvvm.cp.async.shared.global",
                (target, source, *([] if bytes_there is None else [bytes_there])),
                size=ir.IntegerAttr.get(emit.i32(), UNIT_BYTES),
                modifier=ir.Attribute.parse("#nvvm<load_cache_modifier cg>"),
            )
            return
        vector = ir.VectorType.get([4], emit.i32())
        alignment = ir.IntegerAttr.get(emit.i64(), UNIT_BYTES)

        def load() -> Value:
            return emit.value("llvm.load", (source,), vector, alignment=alignment)

        if bounds is None or bytes_there is None:
            loaded = load()
        else:
            loaded = bounds.load(source, bytes_there, UNIT_BYTES, vector, load)
        if self._rounds_values:
            loaded = _round_to_tf32(loaded)
        emit.op("llvm.store", (loaded, target), alignment=alignment)


def _round_to_tf32(loaded: Value) -> Value:
    """Return four f32, whose bits are an i32 vector, rounded to tf32."""
    floats = emit.value("llvm.bitcast", (loaded,), ir.VectorType.get([4], ir.F32Type.get()))
    elements = [emit.to_tf32(emit.extract_element(floats, i)) for i in range(4)]
    return emit.value("vector.from_elements", elements, loaded.type)


#: Selectors of `prmt` (PTX ISA 9.7.9.7) that combine the even fields of two registers, and the odd
#: fields, by the bits of a field; bytes 4 to 7 are those of the second register.
_SELECTORS = {16: (0x5410, 0x7632), 8: (0x6240, 0x7351)}

#: Masks of the even fields of a register, for fields smaller than a byte, by the bits of a field.
_EVEN_FIELDS = {4: 0x0F0F0F0F, 2: 0x33333333, 1: 0x55555555}

#: The registers of each line that was read, or will be written.
_Lines = list[list[Value]]


class _TransposingCopy:
    """The rounds of a copy; in each, every thread reads, transposes and writes one block."""

    def __init__(
        self,
        copy: Op,
        source: _BlockSource,
        target: _TileEndpoint,
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
        lines_of_block = _RegisterBlock(plan, round_, along, across, first)
        pointers = enumerate(self.source.lines(lines_of_block))
        lines = [self._load(pointer, size, lines_of_block, i) for i, pointer in pointers]
        lines = self._skew(lines, first, plan.source_skew)
        self._write(self._transpose(lines), across, along)

    def _load(self, source: Value, size: int, block: _RegisterBlock, number: int) -> list[Value]:
        """Return the registers of a line of a block, by its number."""
        i32, alignment = emit.i32(), ir.IntegerAttr.get(emit.i64(), size)
        count = size // REGISTER_BYTES
        type_: Type = (
            i32
            if count == 1
            else ir.VectorType.get([count], i32)
            if count
            else (ir.IntegerType.get_signless(size * 8))
        )

        def load() -> Value:
            return emit.value("llvm.load", (source,), type_, alignment=alignment)

        bounds = self.source.bounds
        if bounds is None:
            value = load()
        else:
            line = emit.binary("addi", block.line, number)
            value = bounds.load(
                source, bounds.bytes_from(line, block.along, size), size, type_, load
            )
        if not count:
            return [emit.value("arith.extui", (value,), i32)]
        registers = (
            [value] if count == 1 else [emit.extract_element(value, i) for i in range(count)]
        )
        return [self._round(register) for register in registers]

    def _round(self, register: Value) -> Value:
        """Return the value that the tile stores for a register, rounded to tf32 if the copy rounds."""
        if not self._rounds_values:
            return register
        return emit.to_tf32(emit.value("llvm.bitcast", (register,), ir.F32Type.get()))

    def _transpose(self, lines: _Lines) -> _Lines:
        """Return the registers of the lines of the tile."""
        side = self.plan.per_register
        bits = self.plan.element.bits
        written: _Lines = [[] for _ in range(self.plan.read)]
        for first in range(0, len(lines), side):
            for column in range(len(lines[0])):
                square = [line[column] for line in lines[first : first + side]]
                count = min(side, self.plan.read)
                for i, register in enumerate(_transpose_square(square, bits, count)):
                    written[column * side + i].append(register)
        return written

    def _write(self, lines: _Lines, across: Value, along: Value) -> None:
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

    def _skew(self, lines: _Lines, begin: Any, skew: int) -> _Lines:
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


def _transpose_square(square: list[Value], bits: int, count: int) -> list[Value]:
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


@dataclass(frozen=True)
class _RegisterBlock:
    """The block that a thread transposes in its registers.

    Attributes:
        plan: the plan of the copy.
        round: the round in which the block is copied.
        line, along: its first element (i32 values): a line of the source, and an element of that line.
        first: the line of the block that the thread reads first (i32); None for line 0.
    """

    plan: Transposition
    round: int
    line: Value
    along: Value
    first: Value | None


class _VectorSource(Protocol):
    """The source of a copy by vectors. A line runs along its contiguous dimension."""

    @property
    def bounds(self) -> BoundedMatrix | None:
        """The elements that a matrix of dynamic extents has; None if it has all."""
        ...

    def pointer(self, line: Value, along: Value) -> Value:
        """Return a pointer to an element (i32 values)."""
        ...

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        """Return the distance from a thread's vector of round `anchor` to that of round `round_`.

        It is in lines or in bytes, as the endpoint defines; None if it is not the same for all threads.
        """
        ...

    def advance(self, pointer: Value, step: int) -> Value:
        """Return a pointer advanced by such a distance."""
        ...


class _BlockSource(_VectorSource, Protocol):
    """The source of a copy by vectors or by transposed blocks."""

    def lines(self, block: _RegisterBlock) -> Iterator[Value]:
        """Yield pointers to the lines of a thread's block."""
        ...


class _GlobalSource:
    """A matrix in global memory; distances are in lines."""

    def __init__(self, copy: Op) -> None:
        source = copy.source
        self._base = memref_pointer(source, 1)
        self._pitch = stride_value(source, 1 - contiguous_dim(source.type), emit.i64())
        self._element = memory_type(source.type.element_type)
        self._packed = packing_factor(copy.tile.type)
        bounds = BoundedMatrix(source, self._packed)
        self.bounds = None if bounds.is_whole else bounds

    def pointer(self, line: Value, along: Value) -> Value:
        i64 = emit.i64()
        offset = emit.binary("muli", emit.value("arith.extui", (line,), i64), self._pitch)
        along = emit.binary("divui", along, self._packed)
        offset = emit.binary("addi", offset, emit.value("arith.extui", (along,), i64))
        return gep(self._base, offset, self._element)

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        vectors = (round_ - anchor) * transfer.threads
        is_whole = vectors % (transfer.per_line * transfer.lines) == 0
        return vectors // transfer.per_line if is_whole else None

    def advance(self, pointer: Value, step: int) -> Value:
        if step == 0:
            return pointer
        if isinstance(self._pitch, int):
            return gep(pointer, step * self._pitch, self._element)
        return gep(pointer, emit.binary("muli", self._pitch, step), self._element)

    def lines(self, block: _RegisterBlock) -> Iterator[Value]:
        first = self.pointer(block.line, block.along)
        return (self.advance(first, i) for i in range(block.plan.stored))


class _TileEndpoint:
    """A tile that a copy reads or writes; distances are in bytes."""

    bounds = None

    def __init__(self, subtile: Subtile) -> None:
        self._layout: TileLayout = subtile.slice.layout
        contiguous = self._layout.contiguous_dim
        assert contiguous is not None
        self._contiguous = contiguous
        self._address = TileAddress(subtile)
        self._distances: _RoundDistances | None = None

    def pointer(self, line: Value, along: Value) -> Value:
        row, column = self._index(I32(line), I32(along))
        return self._address.pointer(self._address.within(row, column))

    def step(self, transfer: Transfer, anchor: int, round_: int) -> int | None:
        """Return the distance; None also if it changes the swizzle phase or depends on the origin."""
        if self._distances is None or self._distances.transfer is not transfer:
            self._distances = _round_distances(self._layout, transfer)
        return self._distances.step(anchor, round_)

    def advance(self, pointer: Value, step: int) -> Value:
        return gep(pointer, step)

    def lines(self, block: _RegisterBlock) -> Iterator[Value]:
        if block.first is None:
            return self._lines_at_steps(block)
        lines = (emit.binary("xori", block.first, i) for i in range(block.plan.stored))
        return (self.pointer(emit.binary("addi", block.line, i), block.along) for i in lines)

    def _lines_at_steps(self, block: _RegisterBlock) -> Iterator[Value]:
        """Yield pointers to lines at distances that are the same for all threads."""
        starts = tuple(coordinates[0] for coordinates in block.plan.loads(block.round))
        if self._contiguous == block.plan.contiguous:
            # The copy exchanges rows and columns; the plan uses the rows and columns of its target.
            starts = starts[::-1]
        start = self._index(I32(block.line), I32(block.along))
        address = SteppedAddress(self._address, starts, start)
        return (address.pointer(*self._index(i, 0)) for i in range(block.plan.stored))

    def _index(self, line: Any, along: Any) -> tuple[Any, Any]:
        return (along, line) if self._contiguous == 0 else (line, along)


class _RoundDistances:
    """The distances between the rounds of a transfer in a tile; equal copies share one object."""

    def __init__(self, layout: TileLayout, transfer: Transfer) -> None:
        self._layout, self.transfer = layout, transfer
        self._across = 1 - (layout.contiguous_dim or 0)
        self._vectors: dict[int, np.ndarray] = {}
        self._steps: dict[tuple[int, int], int | None] = {}

    def step(self, anchor: int, round_: int) -> int | None:
        """Return the same as `_TileEndpoint.step`."""
        key = (anchor, round_)
        if key not in self._steps:
            self._steps[key] = self._compute(anchor, round_)
        return self._steps[key]

    def _compute(self, anchor: int, round_: int) -> int | None:
        transfer, layout = self.transfer, self._layout
        if (round_ - anchor) * transfer.threads % (transfer.per_line * transfer.lines):
            return None
        lines = (round_ - anchor) * transfer.threads // transfer.per_line
        if isinstance(layout.origins[self._across], Multiple):
            # Only the distance of whole atoms (of the outermost mode) is the same for every origin.
            atom = prod(mode.extent for mode in layout.modes[self._across][:-1])
            if lines % atom:
                return None
        # An origin along the lines is the same in both rounds, and cancels in the difference.
        offsets, anchor_offsets = self._vectors_of(round_), self._vectors_of(anchor)
        steps = offsets - anchor_offsets[: len(offsets)]
        size = int(steps[0]) * layout.element.bits // 8
        if (steps != steps[0]).any() or size % layout.swizzle.pattern_bytes:
            return None
        return size

    def _vectors_of(self, round_: int) -> np.ndarray:
        """Return the offset of each thread's vector, in elements before the swizzle."""
        if round_ not in self._vectors:
            index = self.transfer.coordinates(round_)
            if 1 - self._across != self.transfer.contiguous:
                index = index[::-1]
            self._vectors[round_] = self._layout.with_origin().linear_at(*index)
        return self._vectors[round_]


@lru_cache(maxsize=64)
def _round_distances(layout: TileLayout, transfer: Transfer) -> _RoundDistances:
    return _RoundDistances(layout, transfer)
