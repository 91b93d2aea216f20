"""Kernels that compute with fragments, and their exact results."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

_DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8,
    "ui8": np.uint8,
    "i1": np.int8,
    "i32": np.int32,
}

#: The types of A and B of the first mma, for each accumulator type.
_FIRST = {"f32": "bf16", "f16": "f16", "i32": "i8"}

#: The accumulator type of the second mma, for each type of its operands; f32 for others.
_SECOND = {"i8": "i32", "ui8": "i32", "i1": "i32"}


def convert(values: np.ndarray, element: str) -> np.ndarray:
    """Round numbers to an element type, as float64; 8-bit types saturate."""
    if element == "i1":
        return (values.astype(np.int64) & 1).astype(np.float64)
    dtype = np.dtype(_DTYPES[element])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.clip(values, limits.min, limits.max)
    if element == "tf32":
        bits = values.astype(np.float32).view(np.uint32) + np.uint32(1 << 12)
        return (bits & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float64)
    if dtype.itemsize == 1:
        most = float(ml_dtypes.finfo(dtype).max)
        values = np.clip(values, -most, most)
    return values.astype(dtype).astype(np.float64)


@dataclass(frozen=True)
class Chain:
    """E = convert(A * B) * C: the D of one mma is the A of the next.

    Attributes:
        d: the accumulator type of A * B.
        element: the type that A * B is converted to.
        m, n: its shape.
    """

    d: str
    element: str
    m: int = 64
    n: int = 64

    def __str__(self) -> str:
        return f"{self.d}-{self.element}-m{self.m}n{self.n}"

    @property
    def _second(self) -> str:
        return _SECOND.get(self.element, "f32")

    @property
    def text(self) -> str:
        """The kernel."""
        a, m, n, second = _FIRST[self.d], self.m, self.n, self._second
        rows, stored = (n // 8, "i8") if self.element == "i1" else (n, self.element)
        stored = "f32" if stored == "tf32" else stored
        return f"""
!A = memref<{m}x32x{a}>
!B = memref<32x{n}x{a}, strided<[1, 32]>>
!C = memref<{rows}x16x{stored}, strided<[1, {rows}]>>
!E = memref<{m}x16x{second}>
!a = !smem.tile<tensor<{m}x32x{a}>, #smem.auto>
!b = !smem.tile<tensor<32x{n}x{a}>, #smem.auto>
!c = !smem.tile<tensor<{n}x16x{self.element}>, #smem.auto>
!d_flying = !smem.fragment<tensor<{m}x{n}x{self.d}>, #smem.in_flight>
!d = !smem.fragment<tensor<{m}x{n}x{self.d}>, #smem.accumulator>
!p = !smem.fragment<tensor<{m}x{n}x{self.element}>, #smem.a_fragment>
!e_flying = !smem.fragment<tensor<{m}x16x{second}>, #smem.in_flight>
!e = !smem.fragment<tensor<{m}x16x{second}>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @chain(%A: !A {{smem.name = "A"}}, %B: !B {{smem.name = "B"}}, %C: !C {{smem.name = "C"}},
                  %E: !E {{smem.name = "E"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    %c = "smem.alloc"() : () -> !c
    "smem.copy"(%A, %a) : (!A, !a) -> ()
    "smem.copy"(%B, %b) : (!B, !b) -> ()
    "smem.copy"(%C, %c) : (!C, !c) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d_flying = "smem.mma"(%a, %b) : (!a, !b) -> !d_flying
    %d = "smem.wait"(%d_flying) {{pending = 0 : i32}} : (!d_flying) -> !d
    %p = "smem.convert"(%d) : (!d) -> !p
    %e_flying = "smem.mma"(%p, %c) : (!p, !c) -> !e_flying
    %e = "smem.wait"(%e_flying) {{pending = 0 : i32}} : (!e_flying) -> !e
    "smem.store"(%e, %E) : (!e, !E) -> ()
    gpu.return
  }}
}}
"""

    def inputs(self) -> dict[str, np.ndarray]:
        """Small integers, whose products exceed the range of 8-bit types; all sums are exact."""
        random = np.random.default_rng(self.n)
        first, second = np.dtype(_DTYPES[_FIRST[self.d]]), np.dtype(_DTYPES[self.element])
        a = random.integers(-6, 7, (self.m, 32)).astype(first)
        b = random.integers(-6, 7, (self.n, 32)).astype(first).T
        if self.element == "i1":
            c = random.integers(-128, 128, (16, self.n // 8)).astype(np.int8).T
        else:
            c = random.integers(0, 2, (16, self.n)).astype(second).T
        return {"A": a, "B": b, "C": c}

    def exact(self, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """E."""
        a, b, c = (inputs[name].astype(np.float64) for name in "ABC")
        if self.element == "i1":
            bits = np.unpackbits(inputs["C"].T.copy().view(np.uint8), axis=1, bitorder="little")
            c = bits.T.astype(np.float64)
        return (convert(a @ b, self.element) @ c).astype(_DTYPES[self._second])


#: Every conversion of an accumulator to a multiplicand; N of one and of several instructions, M of two.
CHAINS = [
    *(
        Chain("f32", e, n=n)
        for e in ("f16", "bf16", "tf32", "f8E4M3FN", "f8E5M2")
        for n in (32, 192)
    ),
    *(Chain("f16", e, n=n) for e in ("f16", "f8E4M3FN", "f8E5M2") for n in (32, 192)),
    *(Chain("i32", e, n=n) for e in ("i8", "ui8") for n in (32, 192)),
    *(Chain("i32", "i1", n=n) for n in (256, 512)),
    Chain("f32", "bf16", m=128, n=96),
    Chain("f32", "f8E4M3FN", m=128, n=96),
    Chain("f32", "f16", n=320),
]


@dataclass(frozen=True)
class Epilogue:
    """D = f(X) for a fragment X that is loaded from global memory and passes through a tile T.

    f scales, adds a bias for each column and a residual, and keeps positive values that are not above the
    diagonal; its result is stored to the tile, loaded from there, and stored to D.

    Attributes:
        d: the accumulator type.
        element: the tile's element type.
        m, n: the shape.
        swizzle: the tile's swizzle, or "auto" for a layout that the compiler selects.
        majorness: "row-major" or "column-major".
        by_mma: whether the tile is read by an mma that multiplies it by 1, rather than loaded.
    """

    d: str
    element: str
    m: int = 64
    n: int = 64
    swizzle: str = "auto"
    majorness: str = "row-major"
    by_mma: bool = False

    def __str__(self) -> str:
        reader = "mma" if self.by_mma else "load"
        layout = f"{self.swizzle}-{self.majorness}"
        return f"{self.d}-{self.element}-m{self.m}n{self.n}-{layout}-{reader}"

    @property
    def text(self) -> str:
        """The kernel."""
        m, n, d, e = self.m, self.n, self.d, self.element
        layout = "#smem.auto"
        if self.swizzle != "auto":
            layout = f'#smem.swizzle<"{self.swizzle}", "{self.majorness}">'
        integer = d == "i32"
        op = "i" if integer else "f"
        zero = f"arith.constant {'0' if integer else '0.0'} : {d}"
        scale = f"arith.constant {'3' if integer else '0.5'} : {d}"
        positive = f"arith.cmp{op} {'sgt' if integer else 'ogt'}"
        identity = self._identity if self.by_mma else ""
        read = self._by_mma if self.by_mma else '%y = "smem.load"(%t) : (!t) -> !x'
        return f"""
!X = memref<{m}x{n}x{d}>
!Bias = memref<{n}x{d}>
!I = memref<{n}x{n}x{e}, strided<[1, {n}]>>
!t = !smem.tile<tensor<{m}x{n}x{e}>, {layout}>
!i = !smem.tile<tensor<{n}x{n}x{e}>, #smem.auto>
!x = !smem.fragment<tensor<{m}x{n}x{d}>, #smem.accumulator>
!flying = !smem.fragment<tensor<{m}x{n}x{d}>, #smem.in_flight>
gpu.module @kernels {{
  gpu.func @epilogue(%X: !X {{smem.name = "X"}}, %Bias: !Bias {{smem.name = "Bias"}},
                     %R: !X {{smem.name = "R"}}, %I: !I {{smem.name = "I"}},
                     %D: !X {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %scale = {scale}
    %zero = {zero}
    %t = "smem.alloc"() : () -> !t
    {identity}
    %x = "smem.load"(%X) : (!X) -> !x
    %f = "smem.map"(%x) ({{
    ^bb0(%v: {d}, %row: index, %column: index):
      %scaled = arith.mul{op} %v, %scale : {d}
      %bias = memref.load %Bias[%column] : !Bias
      %biased = arith.add{op} %scaled, %bias : {d}
      %residual = memref.load %R[%row, %column] : !X
      %sum = arith.add{op} %biased, %residual : {d}
      %positive = {positive}, %sum, %zero : {d}
      %below = arith.cmpi ule, %column, %row : index
      %kept = arith.andi %positive, %below : i1
      %result = scf.if %kept -> ({d}) {{
        scf.yield %sum : {d}
      }} else {{
        scf.yield %zero : {d}
      }}
      gpu.yield %result : {d}
    }}) : (!x) -> !x
    "smem.store"(%f, %t) : (!x, !t) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    {read}
    "smem.store"(%y, %D) : (!x, !X) -> ()
    gpu.return
  }}
}}
"""

    _identity = """%i = "smem.alloc"() : () -> !i
    "smem.copy"(%I, %i) : (!I, !i) -> ()"""

    _by_mma = """%flying = "smem.mma"(%t, %i) : (!t, !i) -> !flying
    %y = "smem.wait"(%flying) {pending = 0 : i32} : (!flying) -> !x"""

    def inputs(self) -> dict[str, np.ndarray]:
        """Integers, which become multiples of 0.5; sums are exact in every accumulator type."""
        random = np.random.default_rng(self.n)
        dtype = np.dtype(_DTYPES[self.d])

        def numbers(*shape: int) -> np.ndarray:
            return random.integers(-300, 300, shape).astype(dtype)

        identity = np.asfortranarray(np.eye(self.n).astype(_DTYPES[self.element]))
        x, bias, residual = numbers(self.m, self.n), numbers(self.n), numbers(self.m, self.n)
        return {"X": x, "Bias": bias, "R": residual, "I": identity}

    def exact(self, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """D."""
        x, bias, residual = (inputs[name].astype(np.float64) for name in ("X", "Bias", "R"))
        exact = x * (3 if self.d == "i32" else 0.5) + bias + residual
        exact[(exact < 0) | ~np.tri(self.m, self.n, dtype=bool)] = 0
        return convert(exact, self.element).astype(_DTYPES[self.d])


_SWIZZLES = ("none", "32B", "64B", "128B")
_MAJORNESS = ("row-major", "column-major")

#: Every type that an accumulator is stored as, in every swizzle and majorness, and in layouts that the
#: compiler selects; shapes of several instructions and of less than one.
EPILOGUES = [
    *(
        Epilogue(d, e, swizzle=s, majorness=o)
        for d, e in (
            ("f32", "f32"),
            ("f32", "f16"),
            ("f32", "bf16"),
            ("f16", "f16"),
            ("i32", "i32"),
        )
        if e != "i32"
        for s in _SWIZZLES
        for o in _MAJORNESS
    ),
    *(
        Epilogue(d, e, swizzle=s, by_mma=True)
        for d, e in (
            ("f32", "bf16"),
            ("f32", "f8E4M3FN"),
            ("f32", "f8E5M2"),
            ("f16", "f8E4M3FN"),
            ("f16", "f8E5M2"),
            ("i32", "i8"),
            ("i32", "ui8"),
        )
        for s in _SWIZZLES
    ),
    *(Epilogue("f32", e, m=128, n=n) for e in ("f32", "bf16") for n in (8, 24, 136)),
    Epilogue("f32", "bf16", n=320),
]
