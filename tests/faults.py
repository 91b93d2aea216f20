"""Faults that are put into correct kernels, to see who finds them.

Each is an edit of the program with `smem` ops, or of the NVVM that it was lowered to; the edit must
change something. `docs/faults.md` is the table of all of them.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from random_programs import Operand, Program

from mlir_smem.codegen import Compiled
from mlir_smem.codegen.llvm_dialect import device_module
from mlir_smem.codegen.manifest import manifest_of
from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir, passmanager
from mlir_smem.dialect.diagnostics import remark_handler
from mlir_smem.emulator import Violations
from mlir_smem.layout import Swizzle
from mlir_smem.layout.descriptor import Descriptor
from mlir_smem.passes.base import run_on
from mlir_smem.passes.pipelines import SmemToNvvm
from mlir_smem.runtime import run_on_cpu

EXAMPLE = (Path(__file__).parents[1] / "examples" / "matmul.mlir").read_text()
CHECKER = "smem-check-async"

Edit = Callable[[str], str]


@dataclass(frozen=True)
class Base:
    """A correct kernel with data, and what it must compute.

    Attributes:
        text: with `smem` ops.
        entry, inputs, output, grid: how it is run.
        exact: the result in float64.
        bound: how far from it a result may be.
        reserved_bytes: an option of the lowering.
    """

    text: str
    entry: str
    inputs: dict[str, np.ndarray]
    output: str
    grid: tuple[int, ...] | None
    exact: np.ndarray
    bound: np.ndarray
    reserved_bytes: int = 0


def _of(program: Program) -> Base:
    inputs = program.inputs()
    exact, bound = program.product(inputs)
    return Base(
        program.text, "product", inputs, "D", program.grid, exact, bound, program.reserved_bytes
    )


def _example() -> Base:
    random = np.random.default_rng(3)
    shapes = {"A": (128, 384), "B": (384, 256)}
    inputs = {
        name: random.standard_normal(shape).astype(ml_dtypes.bfloat16)
        for name, shape in shapes.items()
    }
    a, b = (inputs[name].astype(np.float64) for name in "AB")
    bound = 2.0**-12 * (np.abs(a) @ np.abs(b)) + 2.0**-8 * np.abs(a @ b)
    return Base(EXAMPLE, "matmul", inputs, "C", None, a @ b, bound)


def _operand(major: str, layout: str) -> Operand:
    return Operand(major, layout, (0, 0), False, False)


#: In order: element, result, column-major, m, n, k, chunks, stages, warpgroups, blocks.
_SHAPE = ("bf16", "f32", False, 64, 128, 64, 2, 1, 1, 1)

#: Correct kernels. "plain" has no swizzle, so that every stride matters.
BASES: dict[str, Callable[[], Base]] = {
    "plain": lambda: _of(Program(*_SHAPE, _operand("k", "none"), _operand("mn", "none"), None, 1)),
    "swizzled": lambda: _of(Program(*_SHAPE, _operand("k", "128B"), _operand("mn", "64B"), None, 2)),
    "viewed": lambda: _of(Program(*_SHAPE, _operand("k", "128B"), _operand("k", "128B"), 3, 3)),
    "example": _example,
}


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: what is wrong.
        base: the kernel that it is put into.
        lowered: whether it is put into the lowered kernel.
        edit: puts it in.
    """

    name: str
    base: str
    lowered: bool
    edit: Edit


# -- edits -----------------------------------------------------------------------------------------


def sub(pattern: str, replacement: str, count: int = 1) -> Edit:
    """Replaces the first `count` matches; all if it is 0."""

    def edit(text: str) -> str:
        found, changed = re.subn(pattern, replacement, text, count=count, flags=re.MULTILINE)
        assert changed, f"nothing matches {pattern}"
        return found

    return edit


def _constant(text: str, operand: str) -> re.Match[str]:
    """The number in the constant of A's or B's descriptor; A's tile comes first."""
    names = re.findall(r"arith\.ori %\d+, %(c-?\d{10,}_i64)", text)
    found = re.search(rf"%{names['AB'.index(operand)]} = arith\.constant (-?\d+) : i64", text)
    assert found
    return found


def _with_bits(text: str, match: re.Match[str], bits: int) -> str:
    signed = bits - (1 << 64) if bits >> 63 else bits
    return f"{text[: match.start(1)]}{signed}{text[match.end(1) :]}"


def descriptor(operand: str, **fields: Callable[[Descriptor], Any]) -> Edit:
    """Changes fields of an operand's descriptor, each to a function of the old one."""

    def edit(text: str) -> str:
        match = _constant(text, operand)
        old = Descriptor.decode(int(match[1]) & (1 << 64) - 1)
        new = replace(old, **{name: field(old) for name, field in fields.items()})
        assert new != old
        return _with_bits(text, match, new.encode())

    return edit


def flip(operand: str, bits: int) -> Edit:
    """Flips bits of an operand's descriptor."""

    def edit(text: str) -> str:
        match = _constant(text, operand)
        return _with_bits(text, match, int(match[1]) & (1 << 64) - 1 ^ bits)

    return edit


def only(op: str, predicate: str, limit: int) -> Edit:
    """Makes an op run only in threads whose index compares so with a limit."""
    condition = (
        rf"      %limit = arith.constant {limit} : index\n"
        rf"      %some = arith.cmpi {predicate}, %thread, %limit : index\n"
    )
    return sub(rf"^( *{op}.*)$", rf"{condition}      scf.if %some {{\n\1\n      }}")


def modifier(matrix: str, position: int, old: str, new: str) -> Edit:
    """Changes a modifier of a matrix of every wgmma: those in brackets, counted from 0."""
    before = r"<\w+>, " * position
    return sub(rf"(nvvm\.wgmma\.mma_async .*\b{matrix}\[{before})<{old}>", rf"\1<{new}>", 0)


def constant(name: str, value: int) -> Edit:
    """Gives a constant of the lowered kernel another value."""
    return sub(rf"(%{name} = arith\.constant) -?\d+", rf"\1 {value}")


FAULTS: tuple[Fault, ...] = (
    # What a descriptor says.
    Fault("LBO of A doubled", "plain", True, descriptor("A", lbo=lambda d: 2 * d.lbo)),
    Fault("SBO of A doubled", "plain", True, descriptor("A", sbo=lambda d: 2 * d.sbo)),
    Fault(
        "LBO and SBO of A exchanged",
        "plain",
        True,
        descriptor("A", lbo=lambda d: d.sbo, sbo=lambda d: d.lbo),
    ),
    Fault("LBO of B 16 bytes too small", "plain", True, descriptor("B", lbo=lambda d: d.lbo - 16)),
    Fault("SBO of B halved", "plain", True, descriptor("B", sbo=lambda d: d.sbo // 2)),
    Fault("LBO of swizzled B doubled", "swizzled", True, descriptor("B", lbo=lambda d: 2 * d.lbo)),
    Fault("SBO of swizzled A halved", "swizzled", True, descriptor("A", sbo=lambda d: d.sbo // 2)),
    Fault("swizzle 64B on A of 128B", "swizzled", True, descriptor("A", swizzle=lambda d: Swizzle.B64)),
    Fault("swizzle 32B on B of 64B", "swizzled", True, descriptor("B", swizzle=lambda d: Swizzle.B32)),
    Fault("no swizzle on A of 128B", "swizzled", True, descriptor("A", swizzle=lambda d: Swizzle.NONE)),
    Fault("base offset 1 on an aligned tile", "swizzled", True, descriptor("A", base_offset=lambda d: 1)),
    Fault("base offset of a view shifted by a bit", "viewed", True, constant("c49_i64", 50)),
    Fault("bit 46 set, which no field has", "swizzled", True, flip("A", 1 << 46)),
    Fault("address not divided by 16", "swizzled", True, constant("c4_i64", 0)),
    Fault("address masked to 8 bits", "swizzled", True, constant("c16383_i64", 255)),
    Fault("start of B 16 bytes off", "swizzled", True, flip("B", 1)),
    # Which bytes an instruction reads.
    Fault("k-step of A doubled", "swizzled", True, sub(r"addi (%\d+), %c2_i64", r"addi \1, %c4_i64")),
    Fault("k-step of B left out", "plain", True, sub(r"(nvvm\.wgmma.*, )%\d+(, %\d+, <m)", r"\1%bb\2")),
    Fault("A read as M-major", "swizzled", True, modifier("A", 2, "row", "col")),
    Fault("B read as K-major", "swizzled", True, modifier("B", 2, "row", "col")),
    Fault("A negated", "swizzled", True, modifier("A", 1, "one", "neg")),
    Fault("accumulator thrown away", "swizzled", True, modifier("D", 1, "one", "zero")),
)
