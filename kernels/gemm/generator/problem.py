"""What a GEMM kernel computes: element types, and which dimensions are contiguous."""

from __future__ import annotations

from dataclasses import dataclass

from ....layout import Element, accumulators, element, partners
from ....layout.wgmma import MN_MAJOR


class ProblemError(ValueError):
    """Operands that cannot be multiplied; the message says what can be."""


#: The multiplicands by MLIR's names: what tensor cores read them as, and the element types that the
#: result can have, the usual one first.
_FLOAT_8 = ("bf16", "f16", "f32")
_MULTIPLICANDS = {
    "bf16": ("bf16", ("bf16", "f32", "f16")),
    "f16": ("f16", ("f16", "f32", "bf16")),
    "f32": ("tf32", ("f32", "bf16", "f16")),
    "f8E4M3FN": ("e4m3", _FLOAT_8),
    "f8E5M2": ("e5m2", _FLOAT_8),
    "i8": ("s8", ("i32",)),
    "ui8": ("u8", ("i32",)),
}

#: What the results are in memory that are no multiplicands.
_RESULTS = {"i32": "s32"}


@dataclass(frozen=True)
class Problem:
    """C = A * B of matrices in global memory; C is row-major.

    Attributes:
        a, b: MLIR's names of the element types; f32 is rounded to tf32 on its way.
        c: that of the result.
        a_major: "k" if A's rows are contiguous, "m" if its columns are.
        b_major: "k" if B's columns are contiguous, "n" if its rows are.

    Raises:
        ProblemError: if no tensor core multiplies them so.
    """

    a: str = "bf16"
    b: str = "bf16"
    c: str = "bf16"
    a_major: str = "k"
    b_major: str = "n"

    def __post_init__(self) -> None:
        for name, held in (("A", self.a), ("B", self.b)):
            if held not in _MULTIPLICANDS:
                raise ProblemError(
                    f"{name} has elements of {held}; expected {', '.join(_MULTIPLICANDS)}"
                )
        first, second = multiplicand(self.a), multiplicand(self.b)
        if not accumulators(first, second):
            fitting = {kind.name for kind in partners(first)}
            names = [name for name, (kind, _) in _MULTIPLICANDS.items() if kind in fitting]
            raise ProblemError(
                f"A of {self.a} and B of {self.b} do not go together; expected B of {' or '.join(names)}"
            )
        if self.c not in results(self.a):
            raise ProblemError(
                f"the product of {self.a} is not stored as {self.c}; expected "
                f"{' or '.join(results(self.a))}"
            )
        for name, held, major, other in (
            ("A", self.a, self.a_major, "m"),
            ("B", self.b, self.b_major, "n"),
        ):
            if major not in ("k", other):
                raise ProblemError(f"{name} is {major}-major; expected k or {other}")
            if major != "k" and multiplicand(held) not in MN_MAJOR:
                raise ProblemError(
                    f"{name} of {held} is {major.upper()}-major; tensor cores read that type K-major "
                    "alone; matmul transposes it before, a prepared product cannot"
                )


def is_multiplied(name: str) -> bool:
    """Whether tensor cores multiply elements of that MLIR type."""
    return name in _MULTIPLICANDS


def multiplicand(name: str) -> Element:
    """What tensor cores read elements of that MLIR type as."""
    return element(_MULTIPLICANDS[name][0])


def item_bytes(name: str) -> int:
    """Bytes of an element of that MLIR type in global memory: of a multiplicand, or of a result."""
    return element(_RESULTS.get(name) or _MULTIPLICANDS[name][0]).bytes(1)


def results(name: str) -> tuple[str, ...]:
    """The element types of a product of that MLIR type, the usual one first; none if it has none."""
    return _MULTIPLICANDS.get(name, ("", ()))[1]
