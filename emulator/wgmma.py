"""One `wgmma.mma_async` of a strand's warpgroups: bytes by the descriptors, products, registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import Kind, Stop
from .lanes import WARP, WARPGROUP, Lanes, of_warps
from .multiplicands import Multiplicand
from .operands import operand_bytes
from .strand import Strand
from .tensor_core import multiply_add, multiply_add_integers
from .values import Registers

ROWS = 64

#: The accumulators by their names in the ISA.
ACCUMULATORS = {
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "s32": np.dtype(np.int32),
}


@dataclass(frozen=True)
class Form:
    """What a `wgmma.mma_async` says beside its operands.

    Attributes:
        n: its N.
        a, b: the types of A and B.
        accumulator: the dtype of D.
        a_mn_major, b_mn_major: whether A is M-major, B is N-major.
        accumulates: whether it adds to the accumulator.
        a_sign, b_sign: 1, or -1 to negate.
        saturates: whether integer sums stay within 32 bits.
    """

    n: int
    a: Multiplicand
    b: Multiplicand
    accumulator: np.dtype
    a_mn_major: bool = False
    b_mn_major: bool = False
    accumulates: bool = True
    a_sign: int = 1
    b_sign: int = 1
    saturates: bool = False


def execute(strand: Strand, form: Form, accumulator: Registers, a: Any, b: Any) -> Registers:
    """Multiplies, for each warpgroup of a strand; the result is in flight.

    Raises:
        Stop: if a descriptor is none, or leads out of shared memory, which is reported.
    """
    _check_accumulator(strand, accumulator, form)
    descriptors = [strand.spread(strand.checked(value)) for value in (a, b)]
    data = np.empty_like(accumulator.data)
    for part in range(0, strand.lanes.count, WARPGROUP):
        rows = slice(part, part + WARPGROUP)
        warpgroup = int(strand.lanes.threads[part]) // WARPGROUP
        a_bits, b_bits = (_uniform(strand, descriptor[rows]) for descriptor in descriptors)
        left = _operand(strand, warpgroup, "A", a_bits, form.a, form.a_mn_major, ROWS)
        right = _operand(strand, warpgroup, "B", b_bits, form.b, form.b_mn_major, form.n)
        data[rows] = _product(left, right, accumulator.data[rows], form)
    warps = strand.lanes.threads // WARP
    pending = strand.block.groups.current[warps]
    by_matrix = np.full(len(warps), -1, np.int32)
    return Registers(data, pending, by_matrix, np.ones(data.shape[1], bool))


def _check_accumulator(strand: Strand, accumulator: Registers, form: Form) -> None:
    """Checks that the accumulator's registers may be given to the tensor core."""
    block = strand.block
    fences = block.groups.fences[strand.lanes.threads // WARP]
    written = (accumulator.stamp >= 0) & (accumulator.stamp == fences)
    if (written if form.accumulates else fences == 0).any():
        block.report_at(
            strand,
            Kind.REGISTERS_UNFENCED,
            "gives the tensor core registers that other instructions may still be writing: "
            "wgmma.fence is missing before it",
        )
    if form.accumulates and not accumulator.defined.all():
        block.found_poison(strand)


def _uniform(strand: Strand, descriptor: np.ndarray) -> int:
    first = int(descriptor[0])
    if (descriptor != descriptor[0]).any():
        strand.block.report_at(
            strand, Kind.DIVERGENT, "has a descriptor that the threads of a warpgroup disagree on"
        )
        raise Stop
    return first


def _operand(
    strand: Strand,
    warpgroup: int,
    name: str,
    descriptor: int,
    type_: Multiplicand,
    mn_major: bool,
    rows: int,
) -> np.ndarray:
    """An operand's numbers, [rows, k], as they are in shared memory."""
    block, size = strand.block, type_.dtype.itemsize
    try:
        address = operand_bytes(descriptor, size * 8, mn_major, rows)
    except ValueError as error:
        message = f"has a descriptor of {name} that is none: {error}"
        block.report_at(strand, Kind.DESCRIPTOR, message)
        raise Stop from None
    shared = block.shared
    if not shared.inside(address, size).all():
        block.report_at(
            strand,
            Kind.OUT_OF_BOUNDS,
            f"reads {name} from {address.min():#x} to {address.max() + size - 1:#x}; the block's "
            f"shared memory lies from {shared.base:#x} to {shared.base + shared.size - 1:#x}",
        )
        raise Stop
    first_warp = warpgroup * WARPGROUP // WARP
    lanes = Lanes(of_warps(np.arange(first_warp, first_warp + 4), block.threads))
    group = int(block.groups.current[first_warp])
    at = (address - shared.base)[..., None] + np.arange(size)
    block.shadow.check_matrix_read(lanes, warpgroup, group, at.reshape(-1), block.reporter(strand))
    return type_.values(shared.load(address, size).view(type_.dtype)[..., 0])


def _product(a: np.ndarray, b: np.ndarray, registers: np.ndarray, form: Form) -> np.ndarray:
    """The registers of D, [thread, register]."""
    a, b = a * form.a_sign, b.T * form.b_sign
    elements = np.ascontiguousarray(registers).view(form.accumulator)
    c = to_matrix(elements if form.accumulates else np.zeros_like(elements), form.n)
    if form.a.is_float:
        found = multiply_add(a, b, c, (form.a, form.b))
    else:
        found = multiply_add_integers(a, b, c, form.saturates)
    return np.ascontiguousarray(to_elements(found)).view(registers.dtype)


# Figures of matrix D, PTX ISA 9.7.15.5.1.1: the row is made of warp, half and lane / 4, the column of
# 8 columns, lane % 4 and the element within a pair.


def to_matrix(elements: np.ndarray, n: int) -> np.ndarray:
    """[64, n] of [128 threads, n / 2 elements]."""
    parts = elements.reshape(4, 8, 4, n // 8, 2, 2)  # warp, lane / 4, lane % 4, column, half, pair
    return parts.transpose(0, 4, 1, 3, 2, 5).reshape(ROWS, n)


def to_elements(matrix: np.ndarray) -> np.ndarray:
    """The inverse of `to_matrix`."""
    n = matrix.shape[1]
    parts = matrix.reshape(4, 2, 8, n // 8, 4, 2)  # warp, half, lane / 4, column, lane % 4, pair
    return parts.transpose(0, 2, 4, 3, 1, 5).reshape(WARPGROUP, n // 2)
