"""Kernels of one CTA or a CTA pair, with or without block scaling, and the result of each."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from mlir_smem.layout.banks import MAX_BYTES
from mlir_smem.layout.tcgen05 import blocked, scaled_rows

from .choices import Choose
from .elements import DTYPES, pack_elements
from .kernels import KernelCase

_E2M1, _E4M3, _E5M2 = "f4E2M1FN", "f8E4M3FN", "f8E5M2"

#: Types of A, B and D.
_MIXES = (
    (_E4M3, _E4M3, "f32"),
    (_E4M3, _E5M2, "f32"),
    (_E2M1, _E2M1, "f32"),
    ("f16", "f16", "f32"),
    ("f16", "f16", "f16"),
    ("bf16", "bf16", "f32"),
    ("i8", "ui8", "i32"),
)

#: Types of scale factors, and elements that share one; 4-bit types are always scaled.
_SCALES = {
    _E2M1: (("f8E8M0FNU", 32), ("f8E8M0FNU", 16), ("f8E4M3FN", 16)),
    _E4M3: (("f8E8M0FNU", 32), (None, 1)),
}

_AUTO = "#smem.auto"


@dataclass(frozen=True)
class BlockCase:
    """A kernel D = A * B, or D = (A * SA) * (B * SB), of one warpgroup in one or two CTAs.

    Attributes:
        a, b, d: MLIR types of A, B and D.
        scale: MLIR type of the scale factors; None without.
        block: elements along K that share a scale factor.
        m, n, k: rows and columns of D, and K; M and N are those of each CTA.
        a_layout, b_layout: forced layouts.
        modifier: a unit attribute of the mma, or none.
        pair: whether a CTA pair multiplies.
        adds: whether the mma is accumulated twice.
        registers: whether A is loaded into registers before; without scale factors.
        by: columns of D that are stored at a time; 0 for all.
    """

    a: str = "f8E4M3FN"
    b: str = "f8E4M3FN"
    scale: str | None = "f8E8M0FNU"
    block: int = 32
    m: int = 128
    n: int = 64
    k: int = 256
    a_layout: str = _AUTO
    b_layout: str = _AUTO
    modifier: str = ""
    pair: bool = False
    adds: bool = False
    registers: bool = False
    d: str = "f32"
    by: int = 0

    @classmethod
    def draw(cls, choose: Choose) -> BlockCase:
        """Draw a random kernel; it may not fit."""
        a, b, d = choose("types", _MIXES)
        scales = _SCALES.get(a, ((None, 1),))
        scale, block = choose("scale", scales)
        pair = choose("pair", (False, True))
        registers = scale is None and choose("registers", (False, True))
        columns = (8, 16, 24, 32, 64, 96, 128, 192, 256)
        return cls(
            a,
            b,
            scale,
            block,
            128 if pair else choose("m", (128, 256) if scale else (64, 128, 192, 256)),
            choose("n", columns),
            choose("k", (128, 256, 384, 768) if a == _E2M1 else (64, 128, 192, 256)),
            choose("A layout", (_AUTO, _AUTO, '#smem.swizzle<"64B", "row-major">')),
            choose("B layout", (_AUTO, _AUTO, '#smem.swizzle<"64B", "column-major">')),
            choose("modifier", ("", "", "negate_a", "negate_b")) if d == "f32" else "",
            pair,
            choose("adds", (False, True)),
            registers,
            d,
            choose("by", (0, 0, 8, 16)),
        )

    @property
    def fits(self) -> bool:
        """Whether such a kernel is legal."""
        bits = 4 if self.a == _E2M1 else 8 if "8" in self.a else 16
        size = (self.m + self.n) * self.k * bits // 8
        return (
            size <= MAX_BYTES * 3 // 4
            and self.columns <= 256
            and self.m * self.columns <= 128 * 256
            and not (self.registers and self.m * self.k * bits > 128 * 128 * 16)
            and not (self.pair and self.n % 16)
            and not (self.by and self.columns % self.by)
            and not (self.scale and self.k // self.block % 4)
        )

    @property
    def arch(self) -> str:
        """An architecture that has this mma."""
        return "sm_100a"

    def kernel(self) -> KernelCase:
        """The kernel, its inputs and its result."""
        exact = self.expected_result().astype(np.float64)
        none = np.zeros_like(exact)
        grid = (self.blocks,)
        return KernelCase(
            self.text, "product", self.inputs(), "D", grid, exact, none, arch=self.arch
        )

    def __str__(self) -> str:
        name = [self.a, self.b, self.d, f"m{self.m}n{self.n}k{self.k}"]
        name += [self.scale, f"block{self.block}"] if self.scale else []
        name += ["registers"] * self.registers
        name += [layout for layout in (self.a_layout, self.b_layout) if layout != _AUTO]
        name += [self.modifier] if self.modifier else []
        name += [f"by{self.by}"] if self.by else []
        return "-".join([*name, *["pair"] * self.pair, *["adds"] * self.adds])

    @property
    def blocks(self) -> int:
        """The CTAs that multiply together."""
        return 2 if self.pair else 1

    @property
    def columns(self) -> int:
        """Columns of D."""
        return self.n * self.blocks

    @property
    def _arrays(self) -> dict[str, _Array]:
        """The arrays of the kernel."""
        (held_a, k_a), (held_b, k_b) = (_storage(element, self.k) for element in (self.a, self.b))
        arrays = {
            "A": _Array((self.m, k_a), held_a, 0, self.blocks),
            "B": _Array((k_b, self.n), held_b, 1, self.blocks),
        }
        if self.scale:
            factors = (self.k // self.block // 4, 32, 4, 4)
            of_b = scaled_rows(self.columns) // 128
            arrays["SA"] = _Array((self.m // 128, *factors), self.scale, 0, self.blocks)
            arrays["SB"] = _Array((of_b, *factors), self.scale, 0, 1)
        return arrays | {"D": _Array((self.m, self.columns), self.d, 0, self.blocks)}

    @property
    def _tiles(self) -> dict[str, str]:
        """The types of the tiles."""
        tiles = {
            "A": f"tensor<{self.m}x{self.k}x{self.a}>, {self.a_layout}",
            "B": f"tensor<{self.k}x{self.n}x{self.b}>, {self.b_layout}",
        }
        if self.scale:
            for name, rows in (("SA", self.m), ("SB", scaled_rows(self.columns))):
                tiles[name] = f"tensor<{rows}x{self.k // self.block}x{self.scale}>, #smem.auto"
        return {name: f"!smem.tile<{type_}>" for name, type_ in tiles.items()}

    @property
    def text(self) -> str:
        """The kernel."""
        arrays, tiles = self._arrays, self._tiles
        arguments = ", ".join(f'%{n}: {a.whole} {{smem.name = "{n}"}}' for n, a in arrays.items())
        lines = [array.subview(name) for name, array in arrays.items()]
        lines += [
            f'%{name.lower()} = "smem.alloc"() : () -> {type_}' for name, type_ in tiles.items()
        ]
        lines += [
            f'"smem.copy"(%{name}i, %{name.lower()}) : ({arrays[name].subview_type}, {type_}) -> ()'
            for name, type_ in tiles.items()
        ]
        lines += ['"smem.fence"() : () -> ()', "gpu.barrier"]
        types = dict(tiles)
        if self.registers:
            types["A"] = f"!smem.fragment<tensor<{self.m}x{self.k}x{self.a}>, #smem.a_fragment>"
            lines.append(f'%ra = "smem.load"(%a) : ({tiles["A"]}) -> {types["A"]}')
        operands = ", ".join(
            "%ra" if self.registers and n == "A" else f"%{n.lower()}" for n in tiles
        )
        attributes = [self.modifier] * bool(self.modifier) + ["pair"] * self.pair
        unit, name = f"{{{', '.join(attributes)}}}", "mma_scaled" if self.scale else "mma"
        last = ""
        for result in ["once"] + ["twice"] * self.adds:
            more = (f", {last}", ", !flying") if last else ("", "")
            lines.append(
                f'%{result} = "smem.{name}"({operands}{more[0]}) {unit} '
                f": ({', '.join(types.values())}{more[1]}) -> !flying"
            )
            last = f"%{result}"
        body = "\n    ".join(lines)
        cluster = ", known_cluster_size = array<i32: 2, 1, 1>" if self.pair else ""
        return f"""
!flying = !smem.fragment<tensor<{self.m}x{self.columns}x{self.d}>, #smem.in_flight>
!ready = !smem.fragment<tensor<{self.m}x{self.columns}x{self.d}>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @product({arguments})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>{cluster}}} {{
    %i = gpu.block_id x
    {body}
    %ready = "smem.wait"({last}) {{pending = 0 : i32}} : (!flying) -> !ready
    {self._stores(arrays["D"])}
    gpu.return
  }}
}}
"""

    def _stores(self, d: _Array) -> str:
        """The lines that store the result."""
        if not self.by:
            return f'"smem.store"(%ready, %Di) : (!ready, {d.subview_type}) -> ()'
        fragment = f"!smem.fragment<tensor<{self.m}x{self.by}x{self.d}>, #smem.accumulator>"
        memref = f"memref<{self.m}x{self.by}x{self.d}, strided<[{self.columns}, 1], offset: ?>>"
        return "\n    ".join(
            f'%some{column} = "smem.columns"(%ready) {{first = {column} : i64}} : (!ready) -> '
            f"{fragment}\n    "
            f"%D{column} = memref.subview %Di[0, {column}] [{self.m}, {self.by}] [1, 1] "
            f": {d.subview_type} to {memref}\n    "
            f'"smem.store"(%some{column}, %D{column}) : ({fragment}, {memref}) -> ()'
            for column in range(0, self.columns, self.by)
        )

    def values(self) -> dict[str, np.ndarray]:
        """A and B, [m or n, k], and their scale factors, [rows, factors], of all CTAs.

        All products and sums of the numbers are exact.
        """
        random = np.random.default_rng(self.m + 3 * self.n + 7 * self.k)
        drawn = [0, 1, 2, 3] if "i8" in self.a else [0, 0.5, 1, 1.5, 2, -1, -2, -0.5]
        arrays = {}
        for name, element, rows in (
            ("A", self.a, self.m * self.blocks),
            ("B", self.b, self.columns),
        ):
            arrays[name] = random.choice(drawn, (rows, self.k)).astype(DTYPES[element])
            powers = 2.0 ** random.integers(-2, 3, (rows, self.k // self.block))
            if self.scale:
                arrays[f"S{name}"] = powers.astype(DTYPES[self.scale])
        return arrays

    def inputs(self) -> dict[str, np.ndarray]:
        """The arrays that the kernel reads."""
        values = self.values()
        a, b = (
            pack_elements(values[name], element) for name, element in (("A", self.a), ("B", self.b))
        )
        factors = {name: blocked(scales) for name, scales in values.items() if name.startswith("S")}
        return {"A": a, "B": b.T, **factors}

    def expected_result(self) -> np.ndarray:
        """D of all CTAs."""
        values = {name: array.astype(np.float64) for name, array in self.values().items()}
        a, b = (
            values[name] * np.repeat(values[f"S{name}"], self.block, 1)
            if self.scale
            else values[name]
            for name in "AB"
        )
        product = (-1 if self.modifier else 1) * (2 if self.adds else 1) * a @ b.T
        return product.astype(DTYPES[self.d])


@dataclass(frozen=True)
class _Array:
    """An array that is divided among the CTAs.

    Attributes:
        shape: the shape of one CTA's subview.
        element: MLIR type of the elements.
        along: the dimension that is divided; columns are contiguous if it is 1.
        count: the number of subviews.
    """

    shape: tuple[int, ...]
    element: str
    along: int
    count: int

    @property
    def _strides(self) -> list[int]:
        if self.along:
            return [1, self.shape[0]]
        return [prod(self.shape[i + 1 :]) for i in range(len(self.shape))]

    @property
    def whole(self) -> str:
        """The memref type of the array."""
        sizes = list(self.shape)
        sizes[self.along] *= self.count
        return f"memref<{'x'.join(map(str, sizes))}x{self.element}, strided<{self._strides}>>"

    @property
    def subview_type(self) -> str:
        """The memref type of a subview."""
        sizes = "x".join(map(str, self.shape))
        return f"memref<{sizes}x{self.element}, strided<{self._strides}, offset: ?>>"

    def subview(self, name: str) -> str:
        """The lines that make a subview."""
        starts, ones = ["0"] * len(self.shape), ", ".join(["1"] * len(self.shape))
        starts[self.along] = f"%{name}at"
        step = self.shape[self.along] if self.count > 1 else 0
        return (
            f"%{name}step = arith.constant {step} : index\n    "
            f"%{name}at = arith.muli %i, %{name}step : index\n    "
            f"%{name}i = memref.subview %{name}[{', '.join(starts)}] "
            f"[{', '.join(map(str, self.shape))}] [{ones}] : {self.whole} to {self.subview_type}"
        )


def _storage(element: str, k: int) -> tuple[str, int]:
    """How global memory stores a row of K elements: MLIR type and count."""
    return ("i8", k // 2) if element == "f4E2M1FN" else ({"tf32": "f32"}.get(element, element), k)
