"""Kernels that multiply two matrices by one `smem.mma`, in every form it has."""

from dataclasses import dataclass

ELEMENTS = ("f16", "bf16")
SWIZZLES = ("none", "32B", "64B", "128B")
K = 128


@dataclass(frozen=True)
class Case:
    """One kernel: D = A * B by one warpgroup, both operands copied from global memory.

    Attributes:
        element: element type of A and B.
        m, n: shape of D; K is 128.
        a_major, b_major: "K", or "M" and "N".
        a_swizzle, b_swizzle: the swizzles that are forced.
    """

    element: str
    m: int
    n: int
    a_major: str
    a_swizzle: str
    b_major: str
    b_swizzle: str

    def __str__(self) -> str:
        return (
            f"{self.element}-m{self.m}n{self.n}-A{self.a_major}{self.a_swizzle}"
            f"-B{self.b_major}{self.b_swizzle}"
        )

    @property
    def text(self) -> str:
        """The kernel as MLIR."""
        a = _memref(self.m, K, self.element, row_major=self.a_major == "K")
        b = _memref(K, self.n, self.element, row_major=self.b_major == "N")
        ta = _tile(self.m, K, self.element, self.a_swizzle, row_major=self.a_major == "K")
        tb = _tile(K, self.n, self.element, self.b_swizzle, row_major=self.b_major == "N")
        body = f"""
    %ta = "smem.alloc"() : () -> {ta}
    %tb = "smem.alloc"() : () -> {tb}
    "smem.copy"(%A, %ta) : ({a}, {ta}) -> ()
    "smem.copy_async"(%B, %tb) : ({b}, {tb}) -> ()
    "smem.copy_commit"() : () -> ()
    "smem.copy_wait"() {{pending = 0 : i32}} : () -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
"""
        return kernel(a, b, self.m, self.n, body + product("%ta", ta, "%tb", tb, self.m, self.n))


def product(a: str, a_type: str, b: str, b_type: str, m: int, n: int) -> str:
    """The mma of two tiles, and the store of its result to %D."""
    flying = f"!smem.fragment<tensor<{m}x{n}xf32>, #smem.in_flight>"
    ready = f"!smem.fragment<tensor<{m}x{n}xf32>, #smem.accumulator>"
    return f"""
    %flying = "smem.mma"({a}, {b}) : ({a_type}, {b_type}) -> {flying}
    %ready = "smem.wait"(%flying) {{pending = 0 : i32}} : ({flying}) -> {ready}
    "smem.store"(%ready, %D) : ({ready}, memref<{m}x{n}xf32>) -> ()
"""


def kernel(a: str, b: str, m: int, n: int, body: str) -> str:
    """A kernel `product(A, B, D)` of one warpgroup."""
    return f"""
gpu.module @kernels {{
  gpu.func @product(%A: {a} {{smem.name = "A"}}, %B: {b} {{smem.name = "B"}},
                    %D: memref<{m}x{n}xf32> {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    {body}
    gpu.return
  }}
}}
"""


def _memref(rows: int, columns: int, element: str, row_major: bool) -> str:
    layout = "" if row_major else f", strided<[1, {rows}]>"
    return f"memref<{rows}x{columns}x{element}{layout}>"


def _tile(rows: int, columns: int, element: str, swizzle: str, row_major: bool) -> str:
    order = "row-major" if row_major else "column-major"
    return f'!smem.tile<tensor<{rows}x{columns}x{element}>, #smem.swizzle<"{swizzle}", "{order}">>'


def all_cases() -> list[Case]:
    """{f16, bf16} x A {K, M} x B {K, N} x four swizzles of each x N x M: 1024 kernels."""
    return [
        Case(element, m, n, a_major, a_swizzle, b_major, b_swizzle)
        for element in ELEMENTS
        for m in (64, 128)
        for n in (8, 64, 136, 256)
        for a_major in ("K", "M")
        for b_major in ("K", "N")
        for a_swizzle in SWIZZLES
        for b_swizzle in SWIZZLES
    ]
