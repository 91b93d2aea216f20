"""Execution of a `wgmma.mma_async`: operand reads by descriptor, arithmetic, result registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..cta import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..lanes import WARP, WARPGROUP
from ..tensor_core.arithmetic import multiply_add, multiply_add_integers
from ..tensor_core.multiplicands import Multiplicand
from ..tensor_core.operand_reads import OperandElements
from ..tensor_core.operands import K_BYTES
from ..values import RegisterStruct
from .descriptors import operand_bytes
from .fragments import ROWS, bytes_of_a, to_elements, to_matrix
from .metadata import kept_elements


@dataclass(frozen=True)
class MmaQualifiers:
    """The qualifiers and immediate operands of a `wgmma.mma_async`.

    Attributes:
        n: N of the instruction shape.
        a, b: the element types of A and B.
        accumulator: the dtype of D.
        a_mn_major, b_mn_major: whether A is M-major, B is N-major.
        accumulates: scale-d: whether D is added; an operand may override it.
        a_sign, b_sign: 1, or -1 to negate.
        saturates: `.satfinite`.
        selector: the sparsity selector; None for a dense instruction.
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
    selector: int | None = None


def execute(
    convergent: ConvergentThreads,
    qualifiers: MmaQualifiers,
    accumulator: RegisterStruct,
    a: Any,
    b: Any,
    metadata: Any = None,
    scale_d: Any = None,
) -> RegisterStruct:
    """Execute the instruction for each warpgroup. The result registers are in flight.

    Args:
        convergent: the threads.
        qualifiers: of the instruction.
        accumulator: the registers of D.
        a: the descriptor of A, or its four registers.
        b: the descriptor of B.
        metadata: of a sparse instruction, a word for each thread.
        scale_d: overrides `qualifiers.accumulates`.

    Raises:
        Stop: if a descriptor is invalid, an operand is outside of shared memory, metadata is undefined,
            or an operand differs between threads; this is reported.
    """
    adds = _adds(convergent, qualifiers, scale_d)
    _check_fenced(convergent, accumulator, adds, "registers")
    if adds.any() and not accumulator.defined.all():
        convergent.cta.report_poison(convergent)
    if isinstance(a, RegisterStruct) and a.data.shape[1] > 1:
        convergent.cta.check_registers(convergent, a)
        _check_fenced(convergent, a, np.ones_like(adds), "registers of A")
        a = a.data
    a, b, words = (_rows(convergent, value) for value in (a, b, metadata))
    data = np.empty_like(accumulator.data)
    for part in range(0, convergent.lanes.count, WARPGROUP):
        rows = slice(part, part + WARPGROUP)
        left = _numbers_of_a(convergent, qualifiers, rows, a)
        right = _numbers_of_b(convergent, qualifiers, rows, b)
        if words is not None:
            right = right[_kept_elements(convergent, qualifiers, words[rows]).T]
        c = accumulator.data[rows] if adds[part] else np.zeros_like(accumulator.data[rows])
        data[rows] = _multiply_add(left, right, c, qualifiers)
    warps = convergent.lanes.threads // WARP
    pending = convergent.cta.groups.current[warps]
    by_matrix = np.full(len(warps), -1, np.int32)
    return RegisterStruct(data, pending, by_matrix, np.ones(data.shape[1], bool))


def _rows(convergent: ConvergentThreads, value: Any) -> Any:
    return None if value is None else convergent.broadcast(convergent.check_value(value))


def _adds(convergent: ConvergentThreads, qualifiers: MmaQualifiers, scale_d: Any) -> np.ndarray:
    """Return scale-d for each thread."""
    if scale_d is None:
        return np.full(convergent.lanes.count, qualifiers.accumulates)
    adds = _rows(convergent, scale_d) != 0
    for part in range(0, len(adds), WARPGROUP):
        _uniform(convergent, adds[part : part + WARPGROUP], "scale-d")
    return adds


def _check_fenced(
    convergent: ConvergentThreads, registers: RegisterStruct, read: np.ndarray, operand: str
) -> None:
    """Check that a `wgmma.fence` orders earlier accesses to registers before the instruction.

    Args:
        convergent: the threads.
        registers: the registers of an operand.
        read: bool[threads], whether the instruction reads them, and does not only write them.
        operand: the registers, for messages.
    """
    fences = convergent.cta.groups.fences[convergent.lanes.threads // WARP]
    written = (registers.stamp >= 0) & (registers.stamp == fences)
    if np.where(read, written, fences == 0).any():
        convergent.cta.report_at(
            convergent,
            ViolationKind.REGISTERS_UNFENCED,
            f"gives the tensor core {operand} that other instructions may still be writing: "
            "wgmma.fence is missing before it",
        )


def _uniform(convergent: ConvergentThreads, values: np.ndarray, operand: str) -> int:
    first = int(values[0])
    if (values != values[0]).any():
        convergent.cta.report_at(
            convergent,
            ViolationKind.DIVERGENT,
            f"has a {operand} that the threads of a warpgroup disagree on",
        )
        raise Stop
    return first


def _numbers_of_a(
    convergent: ConvergentThreads, qualifiers: MmaQualifiers, rows: slice, a: np.ndarray
) -> np.ndarray:
    """Return A as numbers, [64, k]."""
    if a.ndim > 1:
        return qualifiers.a.values(bytes_of_a(a[rows]).view(qualifiers.a.dtype))
    return _operand(convergent, rows, "A", a, qualifiers.a, qualifiers.a_mn_major, ROWS, K_BYTES)


def _numbers_of_b(
    convergent: ConvergentThreads, qualifiers: MmaQualifiers, rows: slice, b: np.ndarray
) -> np.ndarray:
    """Return B as numbers, [k, n]."""
    k_bytes = K_BYTES if qualifiers.selector is None else 2 * K_BYTES
    return _operand(
        convergent, rows, "B", b, qualifiers.b, qualifiers.b_mn_major, qualifiers.n, k_bytes
    ).T


def _operand(
    convergent: ConvergentThreads,
    rows: slice,
    name: str,
    descriptors: np.ndarray,
    type_: Multiplicand,
    mn_major: bool,
    extent: int,
    k_bytes: int,
) -> np.ndarray:
    """Read an operand from shared memory, [m or n, k], as numbers."""
    cta, size = convergent.cta, type_.dtype.itemsize
    descriptor = _uniform(convergent, descriptors[rows], "descriptor")
    try:
        elements = _elements(descriptor, size, mn_major, extent, k_bytes)
    except ValueError as error:
        message = f"has an invalid descriptor of {name}: {error}"
        cta.report_at(convergent, ViolationKind.DESCRIPTOR, message)
        raise Stop from None
    elements.check_inside(convergent, name)
    warpgroup = int(convergent.lanes.threads[rows.start]) // WARPGROUP
    first_warp = warpgroup * WARPGROUP // WARP
    group = int(cta.groups.current[first_warp])
    cta.shadow.check_wgmma_read(
        warpgroup, group, elements.at, elements.units, cta.reporter(convergent)
    )
    return elements.numbers(cta, type_)


@lru_cache(maxsize=4096)
def _elements(
    descriptor: int, size: int, mn_major: bool, extent: int, k_bytes: int
) -> OperandElements:
    """Return the elements of an operand, which many instructions and CTAs read.

    Raises:
        ValueError: if the descriptor is invalid.
    """
    return OperandElements(operand_bytes(descriptor, size * 8, mn_major, extent, k_bytes), size)


def _kept_elements(
    convergent: ConvergentThreads, qualifiers: MmaQualifiers, words: np.ndarray
) -> np.ndarray:
    """Return the elements along K that each row of a sparse A keeps, [64, k / 2]."""
    try:
        return kept_elements(words, qualifiers.a.dtype.itemsize, qualifiers.selector or 0)
    except ValueError as error:
        convergent.cta.report_at(
            convergent, ViolationKind.METADATA, f"has undefined metadata: {error}"
        )
        raise Stop from None


def _multiply_add(
    a: np.ndarray, b: np.ndarray, registers: np.ndarray, qualifiers: MmaQualifiers
) -> np.ndarray:
    """Return the registers of D, [thread, register]."""
    a, b = a * qualifiers.a_sign, b * qualifiers.b_sign
    c = to_matrix(np.ascontiguousarray(registers).view(qualifiers.accumulator), qualifiers.n)
    if qualifiers.a.is_float:
        product = multiply_add(a, b, c, (qualifiers.a, qualifiers.b))
    else:
        product = multiply_add_integers(a, b, c, qualifiers.saturates)
    return to_elements(product).view(registers.dtype)
