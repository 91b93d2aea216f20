"""One `tcgen05.mma` of a thread: bytes by the descriptors, products, cells of tensor memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from ..convergent import ConvergentThreads
from ..cta import Cta
from ..errors import Stop, ViolationKind
from ..tensor_core.arithmetic import ACCUMULATORS, multiply_add, multiply_add_integers
from ..tensor_core.multiplicands import UNIT_BYTES, Multiplicand
from ..tensor_core.operand_reads import bytes_read, numbers_at
from ..tensor_core.operands import K_BYTES, matrix_bytes
from .descriptors import Instruction, UnknownInstruction, instruction, matrix
from .pairs import ctas_of
from .scaled_instructions import scaled_instruction
from .scales import SCALED, scaled
from .tcgen05_clocks import of_cluster
from .tensor_memory import LANES, Cells, TensorMemory, of_cta, report_misuse, split

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
    convergent: ConvergentThreads,
    row: int,
    kind: str,
    d: int,
    a: tuple[int, bool],
    b: int,
    descriptor: int,
    adds: bool,
    group: int,
    scaling: Scaling | None = None,
) -> None:
    """Multiplies; D's cells are in flight.

    Of a pair, each CTA has its rows of A and of D, and its columns of B.

    Args:
        convergent: the threads.
        row: which of them issues it.
        kind: the instruction's kind.
        d: the address of D.
        a: the descriptor of A, and False; or its address in tensor memory, and True.
        b: the descriptor of B.
        descriptor: the instruction's.
        adds: whether it adds to D.
        group: how many CTAs multiply together.
        scaling: how scale blocks are scaled, if the kind does.

    Raises:
        Stop: if a descriptor is none, or leads out of shared memory, or D is where it cannot be, or
            there is no second CTA, which is reported.
        UnknownInstruction: if the emulator does not know it.
    """
    try:
        if scaling:
            decoded = scaled_instruction(descriptor, kind, scaling.block, group)
        else:
            decoded = instruction(descriptor, kind, group)
    except ValueError as error:
        _refuse(convergent, f"has an invalid instruction descriptor: {error}")
    ctas, thread = ctas_of(convergent, group), int(convergent.threads[row])
    memories, cells = [of_cta(cta) for cta in ctas], _cells_of_d(convergent, d, decoded, group)
    for memory in memories:
        memory.check_allocated(convergent, cells, "writes")
        if memory.cta is not convergent.cta:
            memory.cta.note_incoming(convergent, of_cluster(convergent.cta.cluster).column(thread))
    if a[1]:
        a_numbers = [
            _a_in_tensor_memory(convergent, m, thread, a[0], d, decoded, group) for m in memories
        ]
    else:
        given = "A", a[0], decoded.a, decoded.a_mn_major, decoded.m // group, decoded.k_bytes
        a_numbers = [_operand(convergent, cta, thread, *given) for cta in ctas]
    given = "B", b, decoded.b, decoded.b_mn_major, decoded.n // group, decoded.k_bytes
    b_numbers = np.concatenate([_operand(convergent, cta, thread, *given) for cta in ctas])
    for memory, a_of_cta in zip(memories, a_numbers, strict=True):
        factors = a_of_cta, b_numbers
        if scaling and decoded.scales:
            factors = (
                scaled(convergent, memory, thread, "A", a_of_cta, scaling.a, decoded.scales),
                scaled(convergent, memory, thread, "B", b_numbers, scaling.b, decoded.scales),
            )
        memory.shadow.mma(convergent, thread, cells, adds, (d, decoded.m, decoded.n))
        at, dtype = (cells.lanes, cells.columns), ACCUMULATORS[decoded.accumulator]
        shape = decoded.m // group, decoded.n
        c = _accumulators(memory.data[at], dtype) if adds else np.zeros(shape, dtype)
        memory.data[at] = _words(_multiply_add(*factors, c, decoded))


def _multiply_add(a: np.ndarray, b: np.ndarray, c: np.ndarray, decoded: Instruction) -> np.ndarray:
    """D of one CTA, of A, [m, k], and B, [n, k]. Where A has copies of its rows, [copies, m, k], each
    is for as many columns."""
    if a.ndim == 3:
        halves = zip(a, np.split(b, len(a)), np.split(c, len(a), 1), strict=True)
        return np.concatenate([_multiply_add(*half, decoded) for half in halves], 1)
    a_of_cta, b_numbers = a * decoded.a_sign, b.T * decoded.b_sign
    if decoded.a.is_float:
        types = (SCALED, SCALED) if decoded.scales else (decoded.a, decoded.b)
        return multiply_add(a_of_cta, b_numbers, c, types)
    return multiply_add_integers(a_of_cta, b_numbers, c, decoded.saturates)


def _accumulators(words: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """D's elements, each in a word of four bytes, the low half of it if that is enough."""
    return words.astype(np.dtype(f"u{dtype.itemsize}")).view(dtype)


def _words(elements: np.ndarray) -> np.ndarray:
    """The inverse of `_accumulators`. What an upper half holds is not said: here it is all ones, so that
    a kernel that looks at it is found out."""
    size = elements.dtype.itemsize
    return elements.view(np.dtype(f"u{size}")) | np.uint32(0xFFFF0000 if size == 2 else 0)


def _refuse(convergent: ConvergentThreads, message: str) -> NoReturn:
    convergent.cta.report_at(convergent, ViolationKind.DESCRIPTOR, message)
    raise Stop


def _cells_of_d(
    convergent: ConvergentThreads, address: int, decoded: Instruction, group: int
) -> Cells:
    """Where D is in each CTA: a row is a lane, a column is one; but of the 64 rows that each CTA
    of a pair may have, the second half of the columns is on the other 64 lanes (layout B)."""
    lane, column = split(address)
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
        return Cells(row + rows * (n // (decoded.n // 2)), column + n % (decoded.n // 2))
    return _cells_of_rows(lane, column, rows, decoded.n)


def _cells_of_rows(lane: int, column: int, rows: int, columns: int) -> Cells:
    row = np.arange(rows)
    lanes = lane + row // 16 * _LANES_OF_16_ROWS[rows] + row % 16
    return Cells(*np.ix_(lanes, column + np.arange(columns)))


def _a_in_tensor_memory(
    convergent: ConvergentThreads,
    memory: TensorMemory,
    thread: int,
    address: int,
    d: int,
    decoded: Instruction,
    group: int,
) -> np.ndarray:
    """A's numbers in a CTA, [m, k]: each row on the lane of D's, K in columns of four bytes
    (9.7.16.10.5). If a CTA of a pair has 64 rows, [2, 64, k]: they are on all lanes that D's are."""
    lane, column = split(address)
    if lane != split(d)[0]:
        report_misuse(
            convergent, f"has A at lane {lane} of tensor memory and D at lane {split(d)[0]}"
        )
    if decoded.a_mn_major:
        _refuse(convergent, "has an A in tensor memory that is M-major")
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
    own = decoded.m // group
    return numbers if own == rows else numbers.reshape(rows // own, own, -1)


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
    """An operand's numbers, [m or n, k], as they are in a CTA's shared memory."""
    size = type_.dtype.itemsize
    try:
        found = matrix(descriptor, mn_major, size, k_bytes)
    except ValueError as error:
        _refuse(convergent, f"has an invalid descriptor of {name}: {error}")
    address = matrix_bytes(found, size * 8, mn_major, extent, k_bytes)
    held = np.arange(address.shape[1]) * size % UNIT_BYTES < type_.held_bytes
    at = bytes_read(convergent, name, address[:, held], size)
    column, number = of_cluster(cta.cluster).column(thread), convergent.current.number
    report = cta.reporter(convergent)
    cta.shadow.check_tcgen05_read("tcgen05.mma", thread, column, at, number, report)
    return numbers_at(cta, address, type_)
