"""Kernels that multiply two matrices of any types that `wgmma` takes, and what each must compute."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

#: MLIR types of A, B and the accumulator, all that go together.
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

#: K of one instruction, and the NumPy type that memory holds.
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

#: The elements that memory holds in place of a tile's.
_HELD = {"tf32": "f32", "i1": "i8"}


@dataclass(frozen=True)
class Case:
    """A kernel D = A * B of one warpgroup, K-major, of two instructions along K.

    Attributes:
        a, b, d: MLIR types of A, B and the accumulator.
        n: columns of D; it has 64 rows.
        a_swizzle, b_swizzle: the swizzles that are forced, or "auto".
        modifier: a unit attribute of the mma, or none.
        start: what the accumulator is filled with before; nothing is if it is None.
    """

    a: str
    b: str
    d: str
    n: int = 64
    a_swizzle: str = "auto"
    b_swizzle: str = "auto"
    modifier: str = ""
    start: int | None = None

    def __str__(self) -> str:
        said = [self.a, self.b, self.d, f"n{self.n}", self.a_swizzle, self.b_swizzle]
        said += [self.modifier] if self.modifier else []
        said += [f"from{self.start}"] if self.start is not None else []
        return "-".join(said)

    @property
    def instruction_k(self) -> int:
        """K of one instruction."""
        return _K.get(self.a, 32)

    @property
    def k(self) -> int:
        """K: the widest swizzle's atom, so that every swizzle divides it."""
        return 4 * self.instruction_k

    @property
    def text(self) -> str:
        """The kernel."""
        k, held = self.k, self.k // (8 if self.a == "i1" else 1)
        words = [self.modifier] if self.modifier else []
        words += ["truncate"] if self.a == "f32" else []
        return f"""
!A = memref<64x{held}x{_HELD.get(self.a, self.a)}>
!B = memref<{held}x{self.n}x{_HELD.get(self.b, self.b)}, strided<[1, {held}]>>
!D = memref<64x{self.n}x{self.d}>
!a = !smem.tile<tensor<64x{k}x{self.a}>, {_layout(self.a_swizzle, "row-major")}>
!b = !smem.tile<tensor<{k}x{self.n}x{self.b}>, {_layout(self.b_swizzle, "column-major")}>
!flying = !smem.fragment<tensor<64x{self.n}x{self.d}>, #smem.in_flight>
!ready = !smem.fragment<tensor<64x{self.n}x{self.d}>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @product(%A: !A {{smem.name = "A"}}, %B: !B {{smem.name = "B"}}, %D: !D {{smem.name = "D"}})
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

    def _mma(self, modifiers: str) -> str:
        if self.start is None:
            return f'%flying = "smem.mma"(%a, %b) {{{modifiers}}} : (!a, !b) -> !flying'
        value = self.start if self.d == "i32" else float(self.start)
        return f"""%start = arith.constant {value} : {self.d}
    %acc = "smem.fill"(%start) : ({self.d}) -> !ready
    %flying = "smem.mma"(%a, %b, %acc) {{{modifiers}}} : (!a, !b, !ready) -> !flying"""

    def inputs(self) -> dict[str, np.ndarray]:
        """Random A and B; integers of the whole range."""
        random = np.random.default_rng(self.n)
        held = self.k // (8 if self.a == "i1" else 1)
        a = self._matrix(random, self.a, (64, held))
        return {"A": a, "B": np.asarray(self._matrix(random, self.b, (self.n, held)).T, order="F")}

    def _matrix(
        self, random: np.random.Generator, element: str, shape: tuple[int, int]
    ) -> np.ndarray:
        dtype = np.dtype(_DTYPES[element])
        if dtype.kind not in "iu":
            return random.standard_normal(shape).astype(dtype)
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)

    def exact(self, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """D in float64, and how far the result may be from it: not at all for integers.

        An instruction cuts each of its k + 1 terms off `f` bits behind the largest, and its sum `s` bits
        behind its leading bit: 25 and 23 bits, or 13 and 13 where A and B are 8-bit floats; a sum in
        f16 is rounded to 11 bits, or to 2^-25 (`mlir_smem.emulator.tensor_core`). No partial sum is
        larger than the sum of the products' magnitudes.
        """
        a, b = self._numbers(inputs["A"]), self._numbers(inputs["B"].T).T
        sign = -1 if self.modifier.startswith("negate") else 1
        start = self.start or 0
        exact = sign * (a @ b) + start
        if self.d == "i32":
            return self._in_32_bits(a, b, start), np.zeros_like(exact)
        f, s = (13, 13) if self.a.startswith("f8") else (25, 23)
        s, least = (min(s, 11), 2.0**-25) if self.d == "f16" else (s, 0.0)
        size = np.abs(a) @ np.abs(b) + abs(start)
        each = (self.instruction_k + 1) * 2.0**-f * 2 * size + 2.0**-s * size + least
        return exact, self.k // self.instruction_k * each

    def _in_32_bits(self, a: np.ndarray, b: np.ndarray, start: int) -> np.ndarray:
        """Sums of integers that wrap around, or stop at the limits after each instruction."""
        limits = np.iinfo(np.int32)
        total = np.full((a.shape[0], b.shape[1]), start, np.int64)
        for k in range(0, self.k, self.instruction_k):
            part = slice(k, k + self.instruction_k)
            total += (a[:, part] @ b[part]).astype(np.int64)
            if self.modifier == "satfinite":
                total = np.clip(total, limits.min, limits.max)
        return total.astype(np.int32).astype(np.float64)

    def _numbers(self, held: np.ndarray) -> np.ndarray:
        """What the tensor core multiplies, in float64: rows of K."""
        if self.a == "i1":
            return np.unpackbits(held.view(np.uint8), axis=1, bitorder="little").astype(np.float64)
        if self.a in ("tf32", "f32"):
            # Rounded to nearest by the copy, ties away from zero; or cut off by the tensor core.
            up = np.uint32(1 << 12 if self.a == "tf32" else 0)
            held = ((held.view(np.uint32) + up) & np.uint32(0xFFFFE000)).view(np.float32)
        return held.astype(np.float64)

    def check(self, result: np.ndarray, inputs: dict[str, np.ndarray]) -> float:
        """Checks a result; the largest error as a part of the bound."""
        exact, bound = self.exact(inputs)
        error = np.abs(result.astype(np.float64) - exact)
        assert (error <= bound).all(), f"{self}: off by {error.max()}"
        return float((error / np.where(bound > 0, bound, 1)).max())


def _layout(swizzle: str, order: str) -> str:
    return "#smem.auto" if swizzle == "auto" else f'#smem.swizzle<"{swizzle}", "{order}">'


def legal_n(d: str) -> tuple[int, ...]:
    """Every N that one instruction with that accumulator has."""
    if d == "i32":
        return (8, 16, 24, 32, *range(48, 257, 16))
    return tuple(range(8, 257, 8))


def modified(mix: tuple[str, str, str]) -> list[Case]:
    """The kernels of a mix with each modifier that it can have, and from a filled accumulator."""
    if mix[2] != "i32":
        negated = [Case(*mix, modifier=f"negate_{name}") for name in "ab"]
        return [*negated, Case(*mix, start=3), Case(*mix, modifier="negate_a", start=-5)]
    words = ("",) if mix[0] == "i1" else ("", "satfinite")
    # Sums pass both limits of i32.
    starts = (2**31 - 1, -(2**31), 7)
    return [Case(*mix, modifier=word, start=start) for word in words for start in starts]
