"""The problem of a GEMM kernel: element types and major-ness."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from ....layout import Element, accumulators, element, partners
from ....layout.wgmma import MN_MAJOR
from ...errors import ProblemError

if TYPE_CHECKING:
    from .fusion import Fusion

#: By MLIR's element type of A and B: the type that tensor cores read, and the element types of the
#: result, the default first.
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

#: Element types of results that are not types of A and B.
_RESULTS = {"i32": "s32"}


#: Which operands have a leading dimension, and which the exchanged operands do.
_HAVING = {"ab": "ab", "a": "b", "b": "a"}

#: TMA takes arrays of 5 dimensions (PTX ISA 5.5.1).
MAX_BATCH_DIMS = 3


@dataclass(frozen=True)
class Problem:
    """C = A * B of matrices in global memory.

    Attributes:
        a, b: MLIR's names of the element types; TMA rounds f32 to tf32.
        c: that of the result.
        a_major: "k" if A's rows are contiguous, "m" if its columns are.
        b_major: "k" if B's columns are contiguous, "n" if its rows are.
        c_major: "n" if C's rows are contiguous, "m" if its columns are.
        batch: for each leading dimension of C, which operands have it: "ab", "a" or "b"; the other is
            broadcast.
        fusion: an epilogue that is applied to A * B; C has what it returns.
        d: the element type of the epilogue's second result; None if it has one.
        gated: whether the epilogue takes two products, A * B and A * B2, whose elements meet.

    Raises:
        ProblemError: if tensor cores do not multiply these operands.
    """

    a: str = "bf16"
    b: str = "bf16"
    c: str = "bf16"
    a_major: str = "k"
    b_major: str = "n"
    c_major: str = "n"
    batch: tuple[str, ...] = ()
    fusion: Fusion | None = None
    gated: bool = False
    d: str | None = None

    def __post_init__(self) -> None:
        for name, element_type in (("A", self.a), ("B", self.b)):
            if element_type not in _MULTIPLICANDS:
                raise ProblemError(
                    f"{name} has elements of {element_type}; expected {', '.join(_MULTIPLICANDS)}"
                )
        first, second = multiplicand(self.a), multiplicand(self.b)
        if not accumulators(first, second):
            fitting = {partner.name for partner in partners(first)}
            names = [name for name, (read_as, _) in _MULTIPLICANDS.items() if read_as in fitting]
            raise ProblemError(
                f"A of {self.a} and B of {self.b} do not go together; expected B of {' or '.join(names)}"
            )
        stored = self.fusion.stored if self.fusion else (results(self.a),)
        if len(stored) != len(self.results):
            raise ProblemError(
                f"the epilogue returns {len(stored)} result{'s' if len(stored) > 1 else ''}, but the "
                f"GEMM stores {len(self.results)}"
            )
        for result, fitting in zip(self.results, stored, strict=True):
            if result not in fitting:
                raise ProblemError(
                    f"a GEMM of {self.a} does not store {result}; expected {' or '.join(fitting)}"
                )
        products = self.fusion.products if self.fusion else 1
        if products != 1 + self.gated:
            raise ProblemError(
                f"the epilogue takes {products} product{'s' if products > 1 else ''}, but the GEMM has "
                f"{1 + self.gated}"
            )
        if len(self.batch) > MAX_BATCH_DIMS:
            raise ProblemError(
                f"C has {len(self.batch)} leading dimensions; TMA takes up to {MAX_BATCH_DIMS}"
            )
        for having in self.batch:
            if having not in _HAVING:
                raise ProblemError(
                    f"a leading dimension of C is of {having!r}; expected {' or '.join(_HAVING)}"
                )
        if self.c_major not in ("n", "m"):
            raise ProblemError(f"C is {self.c_major}-major; expected n or m")
        for name, element_type, major, other in (
            ("A", self.a, self.a_major, "m"),
            ("B", self.b, self.b_major, "n"),
        ):
            if major not in ("k", other):
                raise ProblemError(f"{name} is {major}-major; expected k or {other}")
            if major != "k" and multiplicand(element_type) not in MN_MAJOR:
                raise ProblemError(
                    f"{name} of {element_type} is {major.upper()}-major; tensor cores read that type "
                    "K-major only; matmul transposes it first, a prepared GEMM does not"
                )

    @property
    def exchanged(self) -> Problem:
        """The problem of the transposed matrices, C^T = B^T * A^T.

        Example:
            >>> of = Problem(a_major="k", b_major="n").exchanged
            >>> of.a_major, of.b_major, of.c_major
            ('m', 'k', 'm')
        """
        return _exchange(self)

    @property
    def results(self) -> tuple[str, ...]:
        """The element types of what is stored: C, and D of an epilogue with two results."""
        return (self.c,) if self.d is None else (self.c, self.d)

    @property
    def products(self) -> int:
        """The products that a kernel computes: of A with one B, or with two."""
        return 1 + self.gated

    def described(self) -> dict[str, Any]:
        """Return all that the kernel depends on, as JSON data."""
        fields = {name: value for name, value in vars(self).items() if name != "fusion"}
        fusion = self.fusion.described() if self.fusion else None
        return {**fields, "batch": list(self.batch), "fusion": fusion}


@lru_cache(maxsize=1024)
def _exchange(problem: Problem) -> Problem:
    a_major = "k" if problem.b_major == "k" else "m"
    b_major = "k" if problem.a_major == "k" else "n"
    c_major = "m" if problem.c_major == "n" else "n"
    batch = tuple(_HAVING[having] for having in problem.batch)
    return Problem(
        problem.b,
        problem.a,
        problem.c,
        a_major,
        b_major,
        c_major,
        batch,
        problem.fusion,
        problem.gated,
        problem.d,
    )


def is_multiplied(name: str) -> bool:
    """Return whether tensor cores multiply elements of an MLIR type."""
    return name in _MULTIPLICANDS


def multiplicand(name: str) -> Element:
    """Return the type as which tensor cores read elements of an MLIR type."""
    return element(_MULTIPLICANDS[name][0])


@cache
def item_bytes(name: str) -> int:
    """Return the bytes of an element of an operand or result in global memory, by its MLIR type."""
    return element(_RESULTS.get(name) or _MULTIPLICANDS[name][0]).bytes(1)


def accumulator(name: str) -> str:
    """Return the element type in which products of A of an MLIR type are summed up."""
    return "i32" if results(name) == ("i32",) else "f32"


def results(name: str) -> tuple[str, ...]:
    """Return the element types of the result for A of an MLIR type, the default first; empty if
    unsupported."""
    return _MULTIPLICANDS.get(name, ("", ()))[1]
