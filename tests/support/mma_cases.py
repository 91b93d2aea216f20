"""Kernels that multiply matrices of any types that `wgmma` supports, and their exact results."""

from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from mlir_smem.layout import Element, element
from mlir_smem.layout.wgmma import compress, decompress, prune

#: MLIR types of A, B and the accumulator: all supported combinations.
_FLOAT_8, _INTEGER_8 = ("f8E4M3FN", "f8E5M2"), ("i8", "ui8")
MIXES = (
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("tf32", "tf32", "f32"),
    ("f32", "f32", "f32"),
    *((a, b, d) for a in _FLOAT_8 for b in _FLOAT_8 for d in ("f32", "f16")),
    *((a, b, "i32") for a in _INTEGER_8 for b in _INTEGER_8),
    ("i1", "i1", "i32"),
)

#: K of one instruction, and the NumPy type in memory.
_K = {"f16": 16, "bf16": 16, "tf32": 8, "f32": 8, "i8": 32, "ui8": 32, "i1": 256}
_DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "ui8": np.uint8,
    "i1": np.int8,
    "i32": np.int32,
}

#: The ISA's names of types whose MLIR names differ.
_NAMES = {
    "f32": "tf32",
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
    "i8": "s8",
    "ui8": "u8",
    "i1": "b1",
}

#: The element types of memory where they differ from the tile's.
_HELD = {"tf32": "f32", "i1": "i8"}


@dataclass(frozen=True)
class Case:
    """A kernel D = A * B of one warpgroup, of four instructions along K.

    Attributes:
        a, b, d: MLIR types of A, B and the accumulator.
        n, m: columns and rows of D.
        a_swizzle, b_swizzle: explicit swizzles, or "auto".
        a_major, b_major: "k" or "mn".
        registers: whether A is a fragment in registers.
        sparse: whether A is sparse.
        modifier: a unit attribute of the mma, or "".
        start: the initial value of the accumulator; None for no accumulator operand.
        keep: scale-d as a run-time value; None if it is a constant.
    """

    a: str
    b: str
    d: str
    n: int = 64
    m: int = 64
    a_swizzle: str = "auto"
    b_swizzle: str = "auto"
    a_major: str = "k"
    b_major: str = "k"
    registers: bool = False
    sparse: bool = False
    modifier: str = ""
    start: int | None = None
    keep: bool | None = None

    def __str__(self) -> str:
        words = [self.a, self.b, self.d, f"m{self.m}n{self.n}"]
        words += [f"A.{self.a_major}.{self.a_swizzle}", f"B.{self.b_major}.{self.b_swizzle}"]
        words += ["registers"] * self.registers + ["sparse"] * self.sparse
        words += [self.modifier] if self.modifier else []
        words += [f"from{self.start}"] if self.start is not None else []
        words += [f"scale-d.{self.keep}"] if self.keep is not None else []
        return "-".join(words)

    @property
    def mix(self) -> tuple[str, str, str]:
        """The three types."""
        return self.a, self.b, self.d

    @property
    def instruction_k(self) -> int:
        """K of one instruction."""
        return _K.get(self.a, 32) * (2 if self.sparse else 1)

    @property
    def k(self) -> int:
        """K, as wide as the widest swizzle for A's stored elements, so that every swizzle divides it."""
        return 4 * self.instruction_k

    @property
    def _a_shape(self) -> tuple[int, int]:
        """Rows and columns of A's stored elements."""
        return self.m, self.k // (2 if self.sparse else 1)

    @property
    def text(self) -> str:
        """The kernel."""
        (m, k_a), k = self._a_shape, self.k
        words = [self.modifier] if self.modifier else []
        words += ["truncate"] if self.a == "f32" else []
        optional = "".join(
            f', %{name}: !{name} {{smem.name = "{name}"}}'
            for name, used in (("E", self.sparse), ("S", self.keep is not None))
            if used
        )
        a_order = "row-major" if self.a_major == "k" else "column-major"
        b_order = "row-major" if self.b_major == "mn" else "column-major"
        return f"""
!A = {self._memref(self.a, m, k_a, self.a_major == "k")}
!B = {self._memref(self.b, k, self.n, self.b_major == "mn")}
!D = memref<{m}x{self.n}x{self.d}>
!E = memref<{m // 64}x{4 if self.k_bits == 8 else 2}x128xi32>
!S = memref<1xi32>
!a = !smem.tile<tensor<{m}x{k_a}x{self.a}>, {_layout(self.a_swizzle, a_order)}>
!b = !smem.tile<tensor<{k}x{self.n}x{self.b}>, {_layout(self.b_swizzle, b_order)}>
!ra = !smem.fragment<tensor<{m}x{k_a}x{self.a}>, #smem.a_fragment>
!e = !smem.fragment<tensor<{m}x{k}x{self.a}>, #smem.metadata>
!flying = !smem.fragment<tensor<{m}x{self.n}x{self.d}>, #smem.in_flight>
!ready = !smem.fragment<tensor<{m}x{self.n}x{self.d}>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @product(%A: !A {{smem.name = "A"}}, %B: !B {{smem.name = "B"}},
                    %D: !D {{smem.name = "D"}}{optional})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    "smem.copy"(%A, %a) : (!A, !a) -> ()
    "smem.copy"(%B, %b) : (!B, !b) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    {self._mma(", ".join(words))}
    %ready = "smem.wait"(%flying) {{pending = 0 : i32}} : (!flying) -> !ready
    "smem.store"(%ready, %D) : (!ready, !D) -> ()
    gpu.return
  }}
}}
"""

    @property
    def k_bits(self) -> int:
        """Bits of an element of A."""
        return 256 // _K.get(self.a, 32)

    def _memref(self, element: str, rows: int, columns: int, row_major: bool) -> str:
        """Return the memref of a matrix; i1 is packed, eight elements in a byte."""
        packed = 8 if element == "i1" else 1
        rows, columns = (rows, columns // packed) if row_major else (rows // packed, columns)
        layout = "" if row_major else f", strided<[1, {rows}]>"
        return f"memref<{rows}x{columns}x{_HELD.get(element, element)}{layout}>"

    def _mma(self, modifiers: str) -> str:
        lines, operands, types = [], ["%a", "%b"], ["!a", "!b"]
        if self.registers:
            lines.append('%ra = "smem.load"(%a) : (!a) -> !ra')
            operands[0], types[0] = "%ra", "!ra"
        if self.sparse:
            lines.append('%e = "smem.load"(%E) : (!E) -> !e')
            operands.append("%e")
            types.append("!e")
        if self.start is not None:
            value = self.start if self.d == "i32" else float(self.start)
            lines.append(f"%start = arith.constant {value} : {self.d}")
            lines.append(f'%acc = "smem.fill"(%start) : ({self.d}) -> !ready')
            operands.append("%acc")
            types.append("!ready")
        if self.keep is not None:
            lines.append("%c0 = arith.constant 0 : index")
            lines.append("%s = memref.load %S[%c0] : !S")
            lines.append("%keep = arith.trunci %s : i32 to i1")
            lines.append('%scaled = "smem.scale_d"(%acc, %keep) : (!ready, i1) -> !ready')
            operands[-1] = "%scaled"
        name = "smem.mma_sp" if self.sparse else "smem.mma"
        lines.append(
            f'%flying = "{name}"({", ".join(operands)}) {{{modifiers}}} : ({", ".join(types)}) -> !flying'
        )
        return "\n    ".join(lines)

    def inputs(self) -> dict[str, np.ndarray]:
        """Return random A and B; integers of the whole range."""
        random = np.random.default_rng(self.n)
        packed = 8 if self.a == "i1" else 1
        a = self._matrix(random, self.a, (self.m, self.k // packed))
        b = self._matrix(random, self.b, (self.n, self.k // packed)).T
        arrays = {}
        if self.sparse:
            a, arrays["E"] = compress(prune(a, self._element), self._element)
        if self.keep is not None:
            arrays["S"] = np.array([self.keep], np.int32)
        arrays["A"] = np.asarray(a, order="C" if self.a_major == "k" else "F")
        arrays["B"] = np.asarray(b, order="F" if self.b_major == "k" else "C")
        return arrays

    @property
    def _element(self) -> Element:
        return element(_NAMES.get(self.a, self.a))

    def _matrix(
        self, random: np.random.Generator, element: str, shape: tuple[int, int]
    ) -> np.ndarray:
        dtype = np.dtype(_DTYPES[element])
        if dtype.kind not in "iu":
            return random.standard_normal(shape).astype(dtype)
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)

    def exact(self, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return D in float64, and the bound of the error, which is 0 for integers.

        An instruction truncates each of its k + 1 terms `f` bits below the largest, and its sum `s` bits
        below its leading bit: 25 and 23 bits, or 13 and 13 where A and B are 8-bit floats; a sum in
        f16 is rounded to 11 bits, or to 2^-25 (`mlir_smem.emulator.tensor_core.arithmetic`). No partial
        sum is larger than the sum of the products' magnitudes.
        """
        a, b = self._numbers(self._whole_a(inputs)), self._numbers(inputs["B"].T).T
        sign = -1 if self.modifier.startswith("negate") else 1
        start = 0 if self.keep is False else self.start or 0
        exact = sign * (a @ b) + start
        if self.d == "i32":
            return self._in_32_bits(a, b, start), np.zeros_like(exact)
        f, s = (13, 13) if self.a.startswith("f8") else (25, 23)
        s, least = (min(s, 11), 2.0**-25) if self.d == "f16" else (s, 0.0)
        size = np.abs(a) @ np.abs(b) + abs(start)
        instruction_bound = (self.instruction_k + 1) * 2.0**-f * 2 * size + 2.0**-s * size + least
        return exact, self.k // self.instruction_k * instruction_bound

    def _in_32_bits(self, a: np.ndarray, b: np.ndarray, start: int) -> np.ndarray:
        """Return sums of integers that wrap, or saturate after each instruction."""
        limits = np.iinfo(np.int32)
        total = np.full((a.shape[0], b.shape[1]), start, np.int64)
        for k in range(0, self.k, self.instruction_k):
            part = slice(k, k + self.instruction_k)
            total += (a[:, part] @ b[part]).astype(np.int64)
            if self.modifier == "satfinite":
                total = np.clip(total, limits.min, limits.max)
        return total.astype(np.int32).astype(np.float64)

    def _whole_a(self, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """Return A with the zeros of sparsity."""
        if not self.sparse:
            return inputs["A"]
        return decompress(np.ascontiguousarray(inputs["A"]), inputs["E"], self._element)

    def _numbers(self, matrix: np.ndarray) -> np.ndarray:
        """Return the numbers that the tensor core multiplies, in float64, as rows along K."""
        if self.a == "i1":
            return np.unpackbits(
                np.ascontiguousarray(matrix).view(np.uint8), axis=1, bitorder="little"
            ).astype(np.float64)
        if self.a in ("tf32", "f32"):
            # The copy rounds to nearest, ties away from zero; or the tensor core truncates.
            up = np.uint32(1 << 12 if self.a == "tf32" else 0)
            bits = np.ascontiguousarray(matrix).view(np.uint32)
            matrix = ((bits + up) & np.uint32(0xFFFFE000)).view(np.float32)
        return matrix.astype(np.float64)

    def check(self, result: np.ndarray, inputs: dict[str, np.ndarray]) -> float:
        """Check a result; return the largest error as a fraction of the bound."""
        exact, bound = self.exact(inputs)
        error = np.abs(result.astype(np.float64) - exact)
        assert (error <= bound).all(), f"{self}: off by {error.max()}"
        return float((error / np.where(bound > 0, bound, 1)).max())


def _layout(swizzle: str, order: str) -> str:
    return "#smem.auto" if swizzle == "auto" else f'#smem.swizzle<"{swizzle}", "{order}">'


def legal_n(d: str) -> tuple[int, ...]:
    """Return every N of one instruction with an accumulator type."""
    if d == "i32":
        return (8, 16, 24, 32, *range(48, 257, 16))
    return tuple(range(8, 257, 8))


def modifier_cases(mix: tuple[str, str, str], **form: Any) -> list[Case]:
    """Return the kernels of a mix with each modifier that it supports, and with a filled accumulator and
    run-time scale-d of 1 and 0.

    Args:
        mix: types of A, B and D.
        form: other attributes of the cases.
    """
    first, *others = _modifier_cases(mix, form)
    return [first, *others, *(replace(first, start=9, keep=keep) for keep in (True, False))]


def _modifier_cases(mix: tuple[str, str, str], form: dict[str, Any]) -> list[Case]:
    if mix[2] != "i32":
        negated = [Case(*mix, modifier=f"negate_{name}", **form) for name in "ab"]
        started = [
            Case(*mix, modifier=word, start=s, **form) for word, s in (("", 3), ("negate_a", -5))
        ]
        return [*negated, *started]
    words = ("",) if mix[0] == "i1" else ("", "satfinite")
    # Sums exceed both limits of i32.
    starts = (2**31 - 1, -(2**31), 7)
    return [Case(*mix, modifier=word, start=start, **form) for word in words for start in starts]


def forms(mix: tuple[str, str, str]) -> list[dict[str, bool]]:
    """Return the forms of a mix: A in registers or not, sparse or not."""
    return [
        {"registers": registers, "sparse": sparse}
        for registers in (False, True)
        for sparse in (False, True)
        if not (sparse and mix[0] == "i1")
    ]


def majors(mix: tuple[str, str, str], registers: bool) -> list[dict[str, str]]:
    """Return the majors that A and B support: MN for 16-bit types; M for an A in registers, if its
    elements are whole bytes."""
    wide = _K.get(mix[0]) == 16
    m = ("k", "mn") if wide or (registers and mix[0] != "i1") else ("k",)
    return [{"a_major": a, "b_major": b} for a in m for b in (("k", "mn") if wide else ("k",))]


def more_of_tcgen05(mix: tuple[str, str, str]) -> list[Case]:
    """Return cases that only `tcgen05` reads without a transposing copy: M- and N-major 8-bit types
    with any swizzle, and tf32 in atoms of 32 bytes."""
    if _K.get(mix[0]) == 16 or mix[0] == "i1":
        return []
    wide = mix[0] in ("tf32", "f32")
    swizzles = ("auto",) if wide else ("auto", "none", "32B", "64B")
    n = 96 if wide else 48
    return [
        *(Case(*mix, n=n, a_major=a, b_major=b) for a, b in (("mn", "k"), ("k", "mn"))),
        *(
            Case(
                *mix,
                n=n + 16 * (s != "auto"),
                m=m,
                a_swizzle=s,
                b_swizzle=s,
                a_major="mn",
                b_major="mn",
            )
            for s in swizzles
            for m in (64, 128)
        ),
    ]


def every_case() -> list[Case]:
    """Return every major and swizzle of both operands; every N, and some N of several instructions; every
    modifier; and M of several instructions."""
    swizzles = ("none", "32B", "64B", "128B")
    cases = []
    for mix in MIXES:
        for form in forms(mix):
            cases += [
                Case(*mix, a_swizzle=a, b_swizzle=b, **major, **form)
                for major in majors(mix, form["registers"])
                for a in swizzles
                for b in swizzles
            ]
            cases += [Case(*mix, n=n, **form) for n in (*legal_n(mix[2]), 40, 264, 320)]
            cases += modifier_cases(mix, **form)
            cases += [Case(*mix, m=128, n=n, **form) for n in (64, 136)]
    return list(dict.fromkeys(cases))
