"""One `tcgen05.mma` of a thread: bytes by the descriptors, products, cells of tensor memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from .errors import Kind, Stop
from .matrix_reads import bytes_read, numbers_at
from .multiplicands import UNIT_BYTES, Multiplicand
from .operands import K_BYTES, matrix_bytes
from .scaled_instructions import scaled_instruction
from .strand import Strand
from .tensor_core import multiply_add, multiply_add_integers
from .tensor_descriptors import Instruction, UnknownInstruction, instruction, matrix
from .tensor_memory import Cells, of_block, split, wrong
from .tensor_scales import SCALED, scaled
from .wgmma import ACCUMULATORS

#: Lanes that D takes of 16 rows if M is 64 (9.7.16.10.5, layout F), and if it is 128 (layout D).
_LANES_OF_16_ROWS = {64: 32, 128: 16}


@dataclass(frozen=True)
class Scaling:
    """What an instruction that scales blocks says of it beside its descriptor.

    Attributes:
        block: elements along K that share a factor.
        a, b: the addresses in tensor memory of the factors of A and of B.
    """

    block: int
    a: int
    b: int


def execute(
    strand: Strand,
    row: int,
    kind: str,
    d: int,
    a: tuple[int, bool],
    b: int,
    descriptor: int,
    adds: bool,
    scaling: Scaling | None = None,
) -> None:
    """Multiplies; D's cells are in flight.

    Args:
        strand: the threads.
        row: which of them issues it.
        kind: the instruction's kind.
        d: the address of D.
        a: the descriptor of A, and False; or its address in tensor memory, and True.
        b: the descriptor of B.
        descriptor: the instruction's.
        adds: whether it adds to D.
        scaling: how blocks are scaled, if the kind does.

    Raises:
        Stop: if a descriptor is none, or leads out of shared memory, or D is where it cannot be, which
            is reported.
        UnknownInstruction: if the emulator does not know it.
    """
    try:
        if scaling:
            form = scaled_instruction(descriptor, kind, scaling.block)
        else:
            form = instruction(descriptor, kind)
    except ValueError as error:
        _refuse(strand, f"has an instruction descriptor that is none: {error}")
    memory, thread = of_block(strand.block), int(strand.lanes.threads[row])
    cells = _cells_of_d(strand, d, form)
    memory.check_allocated(strand, cells, "writes")
    if a[1]:
        left = _a_in_tensor_memory(strand, thread, a[0], d, form)
    else:
        left = _operand(strand, thread, "A", a[0], form.a, form.a_mn_major, form.m, form.k_bytes)
    right = _operand(strand, thread, "B", b, form.b, form.b_mn_major, form.n, form.k_bytes)
    types = form.a, form.b
    if scaling and form.scales:
        left = scaled(strand, thread, "A", left, scaling.a, form.scales)
        right = scaled(strand, thread, "B", right, scaling.b, form.scales)
        types = SCALED, SCALED
    left, right = left * form.a_sign, right.T * form.b_sign
    memory.shadow.multiply(strand, thread, cells, adds, (d, form.m, form.n))
    at, dtype = (cells.lanes, cells.columns), ACCUMULATORS[form.accumulator]
    c = _accumulators(memory.data[at], dtype) if adds else np.zeros((form.m, form.n), dtype)
    if form.a.is_float:
        found = multiply_add(left, right, c, types)
    else:
        found = multiply_add_integers(left, right, c, form.saturates)
    memory.data[at] = _words(found)


def _accumulators(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """D's elements, each in a word of four bytes, the low half of it if that is enough."""
    return words.astype(np.dtype(f"u{dtype.itemsize}")).view(dtype)


def _words(elements: np.ndarray) -> np.ndarray:
    """The inverse of `_accumulators`. What an upper half holds is not said: here it is all ones, so that
    a kernel that looks at it is found out."""
    size = elements.dtype.itemsize
    return elements.view(np.dtype(f"u{size}")) | np.uint32(0xFFFF0000 if size == 2 else 0)


def _refuse(strand: Strand, message: str) -> NoReturn:
    strand.block.report_at(strand, Kind.DESCRIPTOR, message)
    raise Stop


def _cells_of_d(strand: Strand, address: int, form: Instruction) -> Cells:
    """Where D is: a row is a lane, a column is one."""
    lane, column = split(address)
    lanes = (0, 16) if form.m == 64 else (0,)
    if lane not in lanes:
        wrong(
            strand,
            f"has D at lane {lane} of tensor memory; expected {' or '.join(map(str, lanes))} if M is "
            f"{form.m}",
        )
    return _cells_of_rows(lane, column, form.m, form.n)


def _cells_of_rows(lane: int, column: int, rows: int, columns: int) -> Cells:
    row = np.arange(rows)
    lanes = lane + row // 16 * _LANES_OF_16_ROWS[rows] + row % 16
    return Cells(*np.ix_(lanes, column + np.arange(columns)))


def _a_in_tensor_memory(
    strand: Strand, thread: int, address: int, d: int, form: Instruction
) -> np.ndarray:
    """A's numbers, [m, k]: each row on the lane of D's, K in columns of four bytes (9.7.16.10.5)."""
    lane, column = split(address)
    if lane != split(d)[0]:
        wrong(strand, f"has A at lane {lane} of tensor memory and D at lane {split(d)[0]}")
    if form.a_mn_major:
        _refuse(strand, "has an A in tensor memory that is M-major")
    if form.a.is_padded or form.k_bytes != K_BYTES:
        raise UnknownInstruction(
            "has an A in tensor memory of less than 8 bits, or of 48 bytes along K"
        )
    memory = of_block(strand.block)
    cells = _cells_of_rows(lane, column, form.m, K_BYTES // 4)
    memory.check_allocated(strand, cells, "reads A from")
    memory.shadow.take(strand, thread, cells)
    words = np.ascontiguousarray(memory.data[cells.lanes, cells.columns])
    return form.a.values(words.view(form.a.dtype))


def _operand(
    strand: Strand,
    thread: int,
    name: str,
    descriptor: int,
    type_: Multiplicand,
    mn_major: bool,
    extent: int,
    k_bytes: int,
) -> np.ndarray:
    """An operand's numbers, [m or n, k], as they are in shared memory."""
    block, size = strand.block, type_.dtype.itemsize
    try:
        found = matrix(descriptor, mn_major, size, k_bytes)
    except ValueError as error:
        _refuse(strand, f"has a descriptor of {name} that is none: {error}")
    address = matrix_bytes(found, size * 8, mn_major, extent, k_bytes)
    held = np.arange(address.shape[1]) * size % UNIT_BYTES < type_.held_bytes
    at = bytes_read(strand, name, address[:, held], size)
    column = of_block(block).shadow.column(thread)
    number, report = strand.current.number, block.reporter(strand)
    block.shadow.check_tensor_read("tcgen05.mma", block.first + thread, column, at, number, report)
    return numbers_at(strand, address, type_)
