"""Kernels that multiply two matrices whose blocks are scaled, and what each must compute."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import ml_dtypes
import numpy as np

from mlir_smem.layout.tcgen05 import blocked, scaled_rows

#: NumPy types of elements and factors by MLIR's; those of 4 and 6 bits are a byte each in NumPy.
DTYPES = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}


@dataclass(frozen=True)
class ScaledCase:
    """A kernel D = (A * SA) * (B * SB) of one warpgroup, in one or two blocks.

    Attributes:
        a, b: MLIR types of A and B.
        scale: that of the factors.
        block: elements along K that share one.
        m, n, k: rows and columns of D, and K; M and N are those of each block.
        a_layout, b_layout: layouts that are forced.
        modifier: a unit attribute of the mma, or none.
        pair: whether two blocks multiply together.
        adds: whether the product is added twice.
    """

    a: str = "f8E4M3FN"
    b: str = "f8E4M3FN"
    scale: str = "f8E8M0FNU"
    block: int = 32
    m: int = 128
    n: int = 64
    k: int = 256
    a_layout: str = "#smem.auto"
    b_layout: str = "#smem.auto"
    modifier: str = ""
    pair: bool = False
    adds: bool = False

    def __str__(self) -> str:
        said = [self.a, self.b, self.scale, f"block{self.block}", f"m{self.m}n{self.n}k{self.k}"]
        said += [layout for layout in (self.a_layout, self.b_layout) if layout != "#smem.auto"]
        said += [self.modifier] if self.modifier else []
        return "-".join([*said, *["pair"] * self.pair, *["adds"] * self.adds])

    @property
    def blocks(self) -> int:
        """Blocks that multiply together."""
        return 2 if self.pair else 1

    @property
    def columns(self) -> int:
        """Columns of D."""
        return self.n * self.blocks

    @property
    def _arrays(self) -> dict[str, _Array]:
        """The arrays of the kernel."""
        (held_a, k_a), (held_b, k_b) = (_held(kind, self.k) for kind in (self.a, self.b))
        words, a_rows, b_rows = self.k // self.block // 4, self.m // 128, scaled_rows(self.columns)
        factors = (words, 32, 4, 4)
        return {
            "A": _Array((self.m, k_a), held_a, 0, self.blocks),
            "B": _Array((k_b, self.n), held_b, 1, self.blocks),
            "SA": _Array((a_rows, *factors), self.scale, 0, self.blocks),
            "SB": _Array((b_rows // 128, *factors), self.scale, 0, 1),
            "D": _Array((self.m, self.columns), "f32", 0, self.blocks),
        }

    @property
    def text(self) -> str:
        """The kernel."""
        factors, b_rows = self.k // self.block, scaled_rows(self.columns)
        arrays = self._arrays
        said = [self.modifier] * bool(self.modifier) + ["pair"] * self.pair
        unit = f" {{{', '.join(said)}}}" if said else ""
        arguments = ", ".join(f'%{n}: {a.whole} {{smem.name = "{n}"}}' for n, a in arrays.items())
        views = "\n    ".join(array.subview(name) for name, array in arrays.items())
        tiles = {"A": "a", "B": "b", "SA": "sa", "SB": "sb"}
        copies = "\n    ".join(
            f'"smem.copy"(%{name}i, %{tile}) : ({arrays[name].part}, !{tile}) -> ()'
            for name, tile in tiles.items()
        )
        cluster = ", known_cluster_size = array<i32: 2, 1, 1>" if self.pair else ""
        operands, types = "%a, %b, %sa, %sb", "!a, !b, !sa, !sb"
        last = "twice" if self.adds else "once"
        again = (
            f'%twice = "smem.mma_scaled"({operands}, %once){unit} : ({types}, !flying) -> !flying'
        )
        return f"""
!a = !smem.tile<tensor<{self.m}x{self.k}x{self.a}>, {self.a_layout}>
!b = !smem.tile<tensor<{self.k}x{self.n}x{self.b}>, {self.b_layout}>
!sa = !smem.tile<tensor<{self.m}x{factors}x{self.scale}>, #smem.auto>
!sb = !smem.tile<tensor<{b_rows}x{factors}x{self.scale}>, #smem.auto>
!flying = !smem.fragment<tensor<{self.m}x{self.columns}xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<{self.m}x{self.columns}xf32>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @product({arguments})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>{cluster}}} {{
    %i = gpu.block_id x
    {views}
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    %sa = "smem.alloc"() : () -> !sa
    %sb = "smem.alloc"() : () -> !sb
    {copies}
    "smem.fence"() : () -> ()
    gpu.barrier
    %once = "smem.mma_scaled"({operands}){unit} : ({types}) -> !flying
    {again if self.adds else ""}
    %ready = "smem.wait"(%{last}) {{pending = 0 : i32}} : (!flying) -> !ready
    "smem.store"(%ready, %Di) : (!ready, {arrays["D"].part}) -> ()
    gpu.return
  }}
}}
"""

    def values(self) -> dict[str, np.ndarray]:
        """A and B, [m or n, k], and their factors, [rows, factors], of all blocks: numbers of which all
        products and sums are exact."""
        random = np.random.default_rng(self.m + 3 * self.n + 7 * self.k)
        found = {}
        for name, kind, rows in (("A", self.a, self.m * self.blocks), ("B", self.b, self.columns)):
            numbers = random.choice([0, 0.5, 1, 1.5, 2, -1, -2, -0.5], (rows, self.k))
            powers = 2.0 ** random.integers(-2, 3, (rows, self.k // self.block))
            found[name] = numbers.astype(DTYPES[kind])
            found[f"S{name}"] = powers.astype(DTYPES[self.scale])
        return found

    def inputs(self) -> dict[str, np.ndarray]:
        """The arrays that the kernel reads."""
        values = self.values()
        a, b = (_packed(values[name], kind) for name, kind in (("A", self.a), ("B", self.b)))
        return {"A": a, "B": b.T, "SA": blocked(values["SA"]), "SB": blocked(values["SB"])}

    def expected(self) -> np.ndarray:
        """float32, of all blocks."""
        a, b, sa, sb = (
            array.astype(np.float64) for array in map(self.values().get, ("A", "B", "SA", "SB"))
        )
        product = (a * np.repeat(sa, self.block, 1)) @ (b * np.repeat(sb, self.block, 1)).T
        return ((-1 if self.modifier else 1) * (2 if self.adds else 1) * product).astype(np.float32)


@dataclass(frozen=True)
class _Array:
    """An array, of which each block has a part.

    Attributes:
        shape: of a part.
        kind: MLIR type of the elements.
        along: the dimension along which parts follow each other; columns are contiguous if it is 1.
        parts: how many there are.
    """

    shape: tuple[int, ...]
    kind: str
    along: int
    parts: int

    @property
    def _strides(self) -> list[int]:
        if self.along:
            return [1, self.shape[0]]
        return [prod(self.shape[i + 1 :]) for i in range(len(self.shape))]

    @property
    def whole(self) -> str:
        """The memref of all parts."""
        sizes = list(self.shape)
        sizes[self.along] *= self.parts
        return f"memref<{'x'.join(map(str, sizes))}x{self.kind}, strided<{self._strides}>>"

    @property
    def part(self) -> str:
        """That of one."""
        sizes = "x".join(map(str, self.shape))
        return f"memref<{sizes}x{self.kind}, strided<{self._strides}, offset: ?>>"

    def subview(self, name: str) -> str:
        """Lines that take it."""
        starts, ones = ["0"] * len(self.shape), ", ".join(["1"] * len(self.shape))
        starts[self.along] = f"%{name}at"
        step = self.shape[self.along] if self.parts > 1 else 0
        return (
            f"%{name}step = arith.constant {step} : index\n    "
            f"%{name}at = arith.muli %i, %{name}step : index\n    "
            f"%{name}i = memref.subview %{name}[{', '.join(starts)}] "
            f"[{', '.join(map(str, self.shape))}] [{ones}] : {self.whole} to {self.part}"
        )


def _held(kind: str, k: int) -> tuple[str, int]:
    """What global memory holds of a row of K elements: MLIR type, and how many."""
    return ("i8", k // 2) if kind == "f4E2M1FN" else (kind, k)


def _packed(array: np.ndarray, kind: str) -> np.ndarray:
    """An array as global memory holds it: two 4-bit elements to a byte, the first in the low bits."""
    if kind != "f4E2M1FN":
        return array
    codes = array.view(np.uint8)
    return (codes[..., ::2] | codes[..., 1::2] << 4).view(np.int8)
