"""nvvm: `wgmma`, matrix products of a warpgroup (PTX ISA 9.7.15)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Kind, Stop
from ..lanes import WARP, WARPGROUP, Lanes
from ..operands import operand_bytes
from ..program import Op
from ..registry import executes
from ..strand import Strand
from ..tensor_core import BF16, F16, Multiplicand, multiply_add
from ..values import Registers

#: Multiplicands by their names in NVVM.
_MULTIPLICANDS = {"f16": F16, "bf16": BF16}

_ROWS = 64


@executes("nvvm.wgmma.fence.aligned")
def _fence(op: Op) -> Any:
    def step(strand: Strand) -> None:
        strand.block.groups.fences[_warps(strand)] += 1

    return step


@executes("nvvm.wgmma.commit.group.sync.aligned")
def _commit(op: Op) -> Any:
    return lambda strand: strand.block.groups.commit(_warps(strand))


@executes("nvvm.wgmma.wait.group.sync.aligned")
def _wait(op: Op) -> Any:
    pending = op.number("group")
    return lambda strand: wait_group(strand, pending)


def wait_group(strand: Strand, pending: int) -> None:
    """`wgmma.wait_group`."""
    block, warps = strand.block, _warps(strand)
    block.groups.wait(warps, pending, block.order.epoch[warps * WARP])


def _warps(strand: Strand) -> np.ndarray:
    """The warps that execute an instruction that whole warps execute together."""
    if not strand.lanes.whole_warps:
        strand.block.report_at(
            strand,
            Kind.DIVERGENT,
            f"is executed by {strand.lanes}, a part of a warp; all threads of a warp must execute it "
            "together",
        )
        raise Stop
    return strand.lanes.warps


@dataclass(frozen=True)
class _Form:
    """The form of a `wgmma.mma_async`.

    Attributes:
        n: its N.
        multiplicand: the type of A and B.
        a_mn_major, b_mn_major: whether A is M-major, B is N-major.
        accumulates: whether it adds to the accumulator.
        a_sign, b_sign: 1, or -1 to negate.
    """

    n: int
    multiplicand: Multiplicand
    a_mn_major: bool
    b_mn_major: bool
    accumulates: bool
    a_sign: int
    b_sign: int


def _form(op: Op) -> _Form:
    said = {name: op.text(name) for name in ("shape", "typeA", "typeB", "typeD")}
    word = {name: text.rsplit("<", 1)[-1].rstrip(">") for name, text in said.items()}
    m, n, k = map(int, re.findall(r"= (\d+)", said["shape"]))
    known = word["typeA"] in _MULTIPLICANDS and word["typeA"] == word["typeB"]
    if not known or word["typeD"] != "f32" or (m, k) != (_ROWS, 16):
        raise op.refuse(
            f"multiplies {word['typeA']} by {word['typeB']} into {word['typeD']} as m{m}n{n}k{k}, "
            "which the emulator does not know"
        )
    # Upstream says the layout of each matrix as if stored: A is M-major if `col`, B N-major if `row`.
    return _Form(
        n,
        _MULTIPLICANDS[word["typeA"]],
        "col" in op.text("layoutA"),
        "row" in op.text("layoutB"),
        "one" in op.text("scaleD"),
        -1 if "neg" in op.text("scaleA") else 1,
        -1 if "neg" in op.text("scaleB") else 1,
    )


@executes("nvvm.wgmma.mma_async", collective=True)
def _multiply(op: Op) -> Any:
    form = _form(op)

    def step(strand: Strand, accumulator: Any, a: Any, b: Any) -> Registers:
        _check_accumulator(strand, accumulator, form)
        descriptors = [strand.spread(strand.checked(value)) for value in (a, b)]
        data = np.empty((strand.lanes.count, form.n // 2), np.float32)
        for part in range(0, strand.lanes.count, WARPGROUP):
            rows = slice(part, part + WARPGROUP)
            warpgroup = int(strand.lanes.threads[part]) // WARPGROUP
            pair = [_uniform(strand, descriptor[rows]) for descriptor in descriptors]
            a_values, b_values = _operands(strand, warpgroup, pair, form)
            added = accumulator.data[rows] if form.accumulates else None
            data[rows] = _product(a_values, b_values, added, form)
        warps = strand.lanes.threads // WARP
        pending = strand.block.groups.current[warps]
        return Registers(
            data, pending, np.full(len(warps), -1, np.int32), np.ones(form.n // 2, bool)
        )

    return step


def _check_accumulator(strand: Strand, accumulator: Registers, form: _Form) -> None:
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


def _operands(
    strand: Strand, warpgroup: int, descriptors: list[int], form: _Form
) -> list[np.ndarray]:
    """A (64 x k) and B (n x k) as they are in shared memory."""
    block = strand.block
    dtype = form.multiplicand.dtype
    mask = np.zeros(block.threads, bool)
    mask[warpgroup * WARPGROUP : (warpgroup + 1) * WARPGROUP] = True
    lanes = Lanes(mask)
    group = int(block.groups.current[warpgroup * WARPGROUP // WARP])
    found = []
    for name, bits, mn_major, rows in (
        ("A", descriptors[0], form.a_mn_major, _ROWS),
        ("B", descriptors[1], form.b_mn_major, form.n),
    ):
        try:
            address = operand_bytes(bits, dtype.itemsize * 8, mn_major, rows)
        except ValueError as error:
            block.report_at(
                strand, Kind.DESCRIPTOR, f"has a descriptor of {name} that is none: {error}"
            )
            raise Stop from None
        if not block.shared.inside(address, dtype.itemsize).all():
            shared = block.shared
            block.report_at(
                strand,
                Kind.OUT_OF_BOUNDS,
                f"reads {name} from {address.min():#x} to {address.max() + dtype.itemsize - 1:#x}; "
                f"the block's shared memory lies from {shared.base:#x} to "
                f"{shared.base + shared.size - 1:#x}",
            )
            raise Stop
        at = (address - block.shared.base)[..., None] + np.arange(dtype.itemsize)
        block.shadow.check_matrix_read(
            lanes, warpgroup, group, at.reshape(-1), block.reporter(strand)
        )
        values = block.shared.load(address, dtype.itemsize)
        found.append(values.view(dtype)[..., 0])
    return found


def _product(
    a: np.ndarray, b: np.ndarray, accumulator: np.ndarray | None, form: _Form
) -> np.ndarray:
    """The registers of D, [thread, register]."""
    a, b = a.astype(np.float64) * form.a_sign, b.astype(np.float64) * form.b_sign
    blank = np.zeros((_ROWS, form.n), np.float32)
    c = blank if accumulator is None else _to_matrix(accumulator, form.n)
    return _to_registers(multiply_add(a, b.T, c, form.multiplicand))


# Figures of matrix D, PTX ISA 9.7.15.5.1.1: the row is made of warp, register pair and lane / 4, the
# column of 8 columns, lane % 4 and the register within the pair.


def _to_matrix(registers: np.ndarray, n: int) -> np.ndarray:
    """float32[64, n] of float32[128 threads, n / 2 registers]."""
    parts = registers.reshape(4, 8, 4, n // 8, 2, 2)  # warp, lane / 4, lane % 4, column, half, pair
    return parts.transpose(0, 4, 1, 3, 2, 5).reshape(_ROWS, n)


def _to_registers(matrix: np.ndarray) -> np.ndarray:
    """The inverse of `_to_matrix`."""
    n = matrix.shape[1]
    parts = matrix.reshape(4, 2, 8, n // 8, 4, 2)  # warp, half, lane / 4, column, lane % 4, pair
    return parts.transpose(0, 2, 4, 3, 1, 5).reshape(WARPGROUP, n // 2)
