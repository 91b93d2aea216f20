"""Execution of a `tcgen05.mma`: operand reads, arithmetic, cells of tensor memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ..cta import ConvergentThreads, Cta
from ..errors import Stop, ViolationKind
from ..tensor_core.arithmetic import ACCUMULATORS, multiply_add, multiply_add_integers
from ..tensor_core.multiplicands import UNIT_BYTES, Multiplicand
from ..tensor_core.operand_reads import bytes_read, numbers_at
from ..tensor_core.operands import K_BYTES, matrix_bytes
from .cells import LANES, TensorMemoryCells, split_address
from .descriptors import (
    InstructionDescriptorFields,
    UnknownInstruction,
    decode_instruction,
    decode_matrix,
    decode_scaled_instruction,
)
from .pairs import ctas_of
from .scales import SCALED, scale_operand
from .tcgen05_clocks import tcgen05_clocks_of
from .tensor_memory import TensorMemory, report_misuse, tensor_memory_of

#: Distance in lanes of two groups of 16 rows of D, for M of 64 (9.7.16.10.5, layout F) and 128 (layout
#: D).
_LANES_OF_16_ROWS = {64: 32, 128: 16}


@dataclass(frozen=True)
class ScalingOperands:
    """The operands of block scaling that are not in the instruction descriptor.

    Attributes:
        block: elements along K that share a scale factor.
        a, b: the addresses in tensor memory of the scale factors of A and B.
    """

    block: int
    a: int
    b: int


def execute(
    convergent: ConvergentThreads,
    row: int,
    kind: str,
    d: int,
    a: tuple[int, bool],
    b: int,
    descriptor: int,
    adds: bool,
    group: int,
    scaling: ScalingOperands | None = None,
) -> None:
    """Execute the instruction. The cells of D are in flight.

    In a CTA pair, each CTA has its rows of A and of D, and its columns of B.

    Args:
        convergent: the threads.
        row: the index among them of the thread that issues it.
        kind: of the instruction.
        d: the address of D in tensor memory.
        a: the descriptor of A, and False; or its address in tensor memory, and True.
        b: the descriptor of B.
        descriptor: the instruction descriptor.
        adds: enable-input-d: whether D is added.
        group: number of CTAs of the instruction, 1 or 2.
        scaling: the operands of block scaling; None for a kind without it.

    Raises:
        Stop: if a descriptor is invalid, an operand is outside of shared memory, D is at an invalid
            address, or the CTA has no peer; this is reported.
        UnknownInstruction: if the emulator does not support the instruction.
    """
    try:
        if scaling:
            decoded = decode_scaled_instruction(descriptor, kind, scaling.block, group)
        else:
            decoded = decode_instruction(descriptor, kind, group)
    except ValueError as error:
        _report_descriptor(convergent, f"has an invalid instruction descriptor: {error}")
    ctas, thread = ctas_of(convergent, group), int(convergent.threads[row])
    memories, cells = (
        [tensor_memory_of(cta) for cta in ctas],
        _cells_of_d(convergent, d, decoded, group),
    )
    for memory in memories:
        memory.check_allocated(convergent, cells, "writes")
        if memory.cta is not convergent.cta:
            memory.cta.note_incoming(
                convergent, tcgen05_clocks_of(convergent.cta.cluster).column(thread)
            )
    if a[1]:
        a_numbers = [
            _a_in_tensor_memory(convergent, m, thread, a[0], d, decoded, group) for m in memories
        ]
    else:
        arguments = "A", a[0], decoded.a, decoded.a_mn_major, decoded.m // group, decoded.k_bytes
        a_numbers = [_operand(convergent, cta, thread, *arguments) for cta in ctas]
    arguments = "B", b, decoded.b, decoded.b_mn_major, decoded.n // group, decoded.k_bytes
    b_numbers = np.concatenate([_operand(convergent, cta, thread, *arguments) for cta in ctas])
    for memory, a_of_cta in zip(memories, a_numbers, strict=True):
        factors = a_of_cta, b_numbers
        if scaling and decoded.scales:
            factors = (
                scale_operand(convergent, memory, thread, "A", a_of_cta, scaling.a, decoded.scales),
                scale_operand(
                    convergent, memory, thread, "B", b_numbers, scaling.b, decoded.scales
                ),
            )
        memory.shadow.mma(convergent, thread, cells, adds, (d, decoded.m, decoded.n))
        index, dtype = (cells.lanes, cells.columns), ACCUMULATORS[decoded.accumulator]
        shape = decoded.m // group, decoded.n
        c = _accumulators(memory.data[index], dtype) if adds else np.zeros(shape, dtype)
        memory.data[index] = _words(_multiply_add(*factors, c, decoded))


def _multiply_add(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, decoded: InstructionDescriptorFields
) -> np.ndarray:
    """Return D of one CTA, from A, [m, k], and B, [n, k]. If A has copies of its rows, [copies, m, k],
    each copy multiplies an equal share of the columns."""
    if a.ndim == 3:
        halves = zip(a, np.split(b, len(a)), np.split(c, len(a), 1), strict=True)
        return np.concatenate([_multiply_add(*half, decoded) for half in halves], 1)
    a_of_cta, b_numbers = a * decoded.a_sign, b.T * decoded.b_sign
    if decoded.a.is_float:
        types = (SCALED, SCALED) if decoded.scales else (decoded.a, decoded.b)
        return multiply_add(a_of_cta, b_numbers, c, types)
    return multiply_add_integers(a_of_cta, b_numbers, c, decoded.saturates)


def _accumulators(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Return the elements of D from words of four bytes; an element of two bytes is in the low half."""
    return words.astype(np.dtype(f"u{dtype.itemsize}")).view(dtype)


def _words(elements: np.ndarray) -> np.ndarray:
    """Return elements of D as words; the inverse of `_accumulators`. The ISA does not define the upper
    half of a word of two bytes: it is all ones here, so that a kernel that uses it gives a wrong
    result."""
    size = elements.dtype.itemsize
    return elements.view(np.dtype(f"u{size}")) | np.uint32(0xFFFF0000 if size == 2 else 0)


def _report_descriptor(convergent: ConvergentThreads, message: str) -> NoReturn:
    convergent.cta.report_at(convergent, ViolationKind.DESCRIPTOR, message)
    raise Stop


def _cells_of_d(
    convergent: ConvergentThreads, address: int, decoded: InstructionDescriptorFields, group: int
) -> TensorMemoryCells:
    """Return the cells of D in each CTA. A row is a lane, and a column is a column of tensor memory. If
    each CTA of a pair has 64 rows, the second half of the columns is on the other 64 lanes (layout B)."""
    lane, column = split_address(address)
    lanes = (0, 16) if decoded.m == 64 else (0,)
    if lane not in lanes:
        report_misuse(
            convergent,
            f"has D at lane {lane} of tensor memory; expected {' or '.join(map(str, lanes))} if M is "
            f"{decoded.m}",
        )
    rows = decoded.m // group
    if group == 2 and rows == 64:
        row, n = np.mgrid[:rows, : decoded.n]
        return TensorMemoryCells(
            row + rows * (n // (decoded.n // 2)), column + n % (decoded.n // 2)
        )
    return _cells_of_rows(lane, column, rows, decoded.n)


def _cells_of_rows(lane: int, column: int, rows: int, columns: int) -> TensorMemoryCells:
    row = np.arange(rows)
    lanes = lane + row // 16 * _LANES_OF_16_ROWS[rows] + row % 16
    return TensorMemoryCells(*np.ix_(lanes, column + np.arange(columns)))


def _a_in_tensor_memory(
    convergent: ConvergentThreads,
    memory: TensorMemory,
    thread: int,
    address: int,
    d: int,
    decoded: InstructionDescriptorFields,
    group: int,
) -> np.ndarray:
    """Read A from tensor memory of a CTA, [m, k], as numbers. Each row is on the lane of the same row
    of D, and K is in columns of four bytes (9.7.16.10.5). If a CTA of a pair has 64 rows, A is on all
    lanes of D: [2, 64, k]."""
    lane, column = split_address(address)
    if lane != split_address(d)[0]:
        report_misuse(
            convergent, f"has A at lane {lane} of tensor memory and D at lane {split_address(d)[0]}"
        )
    if decoded.a_mn_major:
        _report_descriptor(convergent, "has an M-major A in tensor memory")
    if decoded.a.is_padded or decoded.k_bytes != K_BYTES:
        raise UnknownInstruction(
            "has an A in tensor memory of less than 8 bits, or of 48 bytes along K"
        )
    rows = LANES if group == 2 else decoded.m
    cells = _cells_of_rows(lane, column, rows, K_BYTES // 4)
    memory.check_allocated(convergent, cells, "reads A from")
    memory.shadow.mma_operand(convergent, thread, cells)
    words = np.ascontiguousarray(memory.data[cells.lanes, cells.columns])
    numbers = decoded.a.values(words.view(decoded.a.dtype))
    rows_of_d = decoded.m // group
    return numbers if rows_of_d == rows else numbers.reshape(rows // rows_of_d, rows_of_d, -1)


def _operand(
    convergent: ConvergentThreads,
    cta: Cta,
    thread: int,
    name: str,
    descriptor: int,
    type_: Multiplicand,
    mn_major: bool,
    extent: int,
    k_bytes: int,
) -> np.ndarray:
    """Read an operand from a CTA's shared memory, [m or n, k], as numbers."""
    size = type_.dtype.itemsize
    try:
        fields = decode_matrix(descriptor, mn_major, size, k_bytes)
    except ValueError as error:
        _report_descriptor(convergent, f"has an invalid descriptor of {name}: {error}")
    address = matrix_bytes(fields, size * 8, mn_major, extent, k_bytes)
    is_stored = np.arange(address.shape[1]) * size % UNIT_BYTES < type_.stored_bytes
    offsets = bytes_read(convergent, name, address[:, is_stored], size)
    column, number = tcgen05_clocks_of(cta.cluster).column(thread), convergent.current.number
    report = cta.reporter(convergent)
    cta.shadow.check_tcgen05_read("tcgen05.mma", thread, column, offsets, number, report)
    return numbers_at(cta, address, type_)
