"""One `wgmma.mma_async` of a convergent's warpgroups: bytes by the descriptors, products, registers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..convergent import ConvergentThreads
from ..errors import Stop, ViolationKind
from ..lanes import WARP, WARPGROUP
from ..tensor_core.arithmetic import multiply_add, multiply_add_integers
from ..tensor_core.multiplicands import Multiplicand
from ..tensor_core.operand_reads import bytes_read, numbers_at
from ..tensor_core.operands import K_BYTES
from ..values import Registers
from .descriptors import operand_bytes
from .fragments import ROWS, bytes_of_a, to_elements, to_matrix
from .metadata import kept_elements


@dataclass(frozen=True)
class MmaQualifiers:
    """What a `wgmma.mma_async` says beside its operands.

    Attributes:
        n: its N.
        a, b: the types of A and B.
        accumulator: the dtype of D.
        a_mn_major, b_mn_major: whether A is M-major, B is N-major.
        accumulates: whether it adds to the accumulator, unless an operand says so.
        a_sign, b_sign: 1, or -1 to negate.
        saturates: whether integer sums stay within 32 bits.
        selector: the sparsity selector of a sparse instruction; None of a dense one.
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
    accumulator: Registers,
    a: Any,
    b: Any,
    metadata: Any = None,
    scale_d: Any = None,
) -> Registers:
    """Multiplies, for each warpgroup of a convergent; the result is in flight.

    Args:
        convergent: the threads.
        qualifiers: the instruction.
        accumulator: the registers of D.
        a: A's descriptor, or its four registers if it has that many.
        b: B's descriptor.
        metadata: of a sparse instruction, a word of each thread.
        scale_d: whether it adds to the accumulator, where that is not the qualifiers's to say.

    Raises:
        Stop: if a descriptor is none, or leads out of shared memory, or if metadata is undefined, or
            threads disagree, which is reported.
    """
    adds = _adds(convergent, qualifiers, scale_d)
    _check_fenced(convergent, accumulator, adds, "registers")
    if adds.any() and not accumulator.defined.all():
        convergent.cta.report_poison(convergent)
    if isinstance(a, Registers) and a.data.shape[1] > 1:
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
    return Registers(data, pending, by_matrix, np.ones(data.shape[1], bool))


def _rows(convergent: ConvergentThreads, value: Any) -> Any:
    return None if value is None else convergent.broadcast(convergent.checked(value))


def _adds(convergent: ConvergentThreads, qualifiers: MmaQualifiers, scale_d: Any) -> np.ndarray:
    """Whether each thread's warpgroup adds to the accumulator."""
    if scale_d is None:
        return np.full(convergent.lanes.count, qualifiers.accumulates)
    adds = _rows(convergent, scale_d) != 0
    for part in range(0, len(adds), WARPGROUP):
        _uniform(convergent, adds[part : part + WARPGROUP], "scale-d")
    return adds


def _check_fenced(
    convergent: ConvergentThreads, given: Registers, read: np.ndarray, what: str
) -> None:
    """Checks that registers may be given to the tensor core.

    Args:
        convergent: the threads.
        given: the registers.
        read: whether each thread's are read, and not only written.
        what: the registers in words.
    """
    fences = convergent.cta.groups.fences[convergent.lanes.threads // WARP]
    written = (given.stamp >= 0) & (given.stamp == fences)
    if np.where(read, written, fences == 0).any():
        convergent.cta.report_at(
            convergent,
            ViolationKind.REGISTERS_UNFENCED,
            f"gives the tensor core {what} that other instructions may still be writing: "
            "wgmma.fence is missing before it",
        )


def _uniform(convergent: ConvergentThreads, values: np.ndarray, what: str) -> int:
    first = int(values[0])
    if (values != values[0]).any():
        convergent.cta.report_at(
            convergent,
            ViolationKind.DIVERGENT,
            f"has a {what} that the threads of a warpgroup disagree on",
        )
        raise Stop
    return first


def _numbers_of_a(
    convergent: ConvergentThreads, qualifiers: MmaQualifiers, rows: slice, a: np.ndarray
) -> np.ndarray:
    """A's numbers, [64, k]."""
    if a.ndim > 1:
        return qualifiers.a.values(bytes_of_a(a[rows]).view(qualifiers.a.dtype))
    return _operand(convergent, rows, "A", a, qualifiers.a, qualifiers.a_mn_major, ROWS, K_BYTES)


def _numbers_of_b(
    convergent: ConvergentThreads, qualifiers: MmaQualifiers, rows: slice, b: np.ndarray
) -> np.ndarray:
    """B's numbers, [k, n]."""
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
    """An operand's numbers, [m or n, k], as they are in shared memory."""
    cta, size = convergent.cta, type_.dtype.itemsize
    descriptor = _uniform(convergent, descriptors[rows], "descriptor")
    try:
        address = operand_bytes(descriptor, size * 8, mn_major, extent, k_bytes)
    except ValueError as error:
        message = f"has a descriptor of {name} that is none: {error}"
        cta.report_at(convergent, ViolationKind.DESCRIPTOR, message)
        raise Stop from None
    at = bytes_read(convergent, name, address, size)
    warpgroup = int(convergent.lanes.threads[rows.start]) // WARPGROUP
    first_warp = warpgroup * WARPGROUP // WARP
    group = int(cta.groups.current[first_warp])
    cta.shadow.check_wgmma_read(warpgroup, group, at, cta.reporter(convergent))
    return numbers_at(cta, address, type_)


def _kept_elements(
    convergent: ConvergentThreads, qualifiers: MmaQualifiers, words: np.ndarray
) -> np.ndarray:
    """The elements of K that each row of a sparse A has, [64, k / 2]."""
    try:
        return kept_elements(words, qualifiers.a.dtype.itemsize, qualifiers.selector or 0)
    except ValueError as error:
        convergent.cta.report_at(
            convergent, ViolationKind.METADATA, f"has metadata that is undefined: {error}"
        )
        raise Stop from None


def _multiply_add(
    a: np.ndarray, b: np.ndarray, registers: np.ndarray, qualifiers: MmaQualifiers
) -> np.ndarray:
    """The registers of D, [thread, register]."""
    a, b = a * qualifiers.a_sign, b * qualifiers.b_sign
    c = to_matrix(np.ascontiguousarray(registers).view(qualifiers.accumulator), qualifiers.n)
    if qualifiers.a.is_float:
        found = multiply_add(a, b, c, (qualifiers.a, qualifiers.b))
    else:
        found = multiply_add_integers(a, b, c, qualifiers.saturates)
    return np.ascontiguousarray(to_elements(found)).view(registers.dtype)
