"""GEMMs as text, `MxNxK[:A,B,C[,LAYOUT]]`, for command lines and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ....layout.wgmma import MN_MAJOR
from ..generator.problem import Problem, ProblemError, multiplicand, results

#: The majors of A and B, by the names that cuBLAS has for column-major operands: A of TN is K-major, and
#: so is B.
_LAYOUTS = {"NN": ("k", "n"), "TN": ("k", "k"), "NT": ("m", "n"), "TT": ("m", "k")}

_FORM = "expected MxNxK[:A,B,C[,LAYOUT]], for example 4096x4096x4096:bf16,bf16,f32,TN"


class GemmShapeError(ValueError):
    """Text that is no GEMM; the message is one line and states what would fit."""


@dataclass(frozen=True)
class GemmShape:
    """A GEMM: its problem and extents.

    Attributes:
        problem: element types and major-ness.
        m, n, k: extents.
    """

    problem: Problem
    m: int
    n: int
    k: int

    @property
    def gemm(self) -> tuple[Problem, int, int, int]:
        """Problem and extents, as most functions take them."""
        return self.problem, self.m, self.n, self.k

    def __str__(self) -> str:
        problem = self.problem
        majors = {majors: name for name, majors in _LAYOUTS.items()}
        layout = majors[problem.a_major, problem.b_major]
        types = f"{problem.a},{problem.b},{problem.c}"
        return f"{self.m}x{self.n}x{self.k}:{types},{layout}"


def parse_shape(text: str) -> GemmShape:
    """Parse a GEMM.

    Without types A, B and C are bf16. LAYOUT is `NN` (A and B as rows), `TN` (both K-major), `NT` (A
    M-major) or `TT` (A M-major, B K-major); without it `NN`, or `TN` for types that tensor cores read
    K-major only.

    Raises:
        GemmShapeError: if it is none.

    Example:
        >>> parse_shape("512x256x128").problem.b_major
        'n'
        >>> parse_shape("512x256x128:f8E4M3FN,f8E4M3FN,bf16").problem.b_major
        'k'
    """
    extents, colon, words = text.partition(":")
    numbers = extents.split("x")
    if len(numbers) != 3 or not all(number.isascii() and number.isdigit() for number in numbers):
        raise GemmShapeError(f"{text!r} is no shape; {_FORM}")
    m, n, k = map(int, numbers)
    if min(m, n, k) < 1:
        raise GemmShapeError(f"{text!r} has an extent of 0; expected 1 or more")
    types = words.split(",") if colon else ["bf16", "bf16", "bf16"]
    if len(types) not in (3, 4):
        raise GemmShapeError(f"{text!r} has {len(types)} words after the colon; {_FORM}")
    a, b, c, *layout = types
    try:
        a_major, b_major = _majors(layout[0]) if layout else ("k", _default_b_major(b))
        return GemmShape(Problem(a, b, c, a_major, b_major), m, n, k)
    except ProblemError as error:
        raise GemmShapeError(f"{text!r}: {error}") from None


def read_shapes(lines: Iterable[str], name: str) -> Iterator[GemmShape]:
    """Yield the GEMMs of a file, one a line; `#` begins a comment.

    Args:
        lines: the file's lines.
        name: the file's name, for messages.

    Raises:
        GemmShapeError: for a line that is none; the message has its number.
    """
    for number, line in enumerate(lines, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            yield parse_shape(text)
        except GemmShapeError as error:
            raise GemmShapeError(f"{name}:{number}: {error}") from None


def _majors(layout: str) -> tuple[str, str]:
    if layout not in _LAYOUTS:
        raise ProblemError(f"the layout is {layout!r}; expected {', '.join(_LAYOUTS)}")
    return _LAYOUTS[layout]


def _default_b_major(element: str) -> str:
    is_known = bool(results(element))
    return "k" if is_known and multiplicand(element) not in MN_MAJOR else "n"
