"""Kernels whose copies transpose data: one that returns a tile's bytes, and one that multiplies."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
from mma_cases import Case

import mlir_smem
from mlir_smem.layout import Access, Swizzle, TileLayout, element, tile_of_atoms, transposition

#: By MLIR type of a tile's elements: the ISA's name, the MLIR type in global memory, and NumPy's type.
ELEMENTS = {
    "f16": ("f16", "f16", np.float16),
    "bf16": ("bf16", "bf16", ml_dtypes.bfloat16),
    "tf32": ("tf32", "f32", np.float32),
    "f32": ("tf32", "f32", np.float32),
    "f8E4M3FN": ("e4m3", "f8E4M3FN", ml_dtypes.float8_e4m3fn),
    "f8E5M2": ("e5m2", "f8E5M2", ml_dtypes.float8_e5m2),
    "i8": ("s8", "i8", np.int8),
    "ui8": ("u8", "ui8", np.uint8),
    "i1": ("b1", "i8", np.int8),
}

SWIZZLES = ("none", "32B", "64B", "128B")

#: The static offset that stands for an offset given by an operand.
DYNAMIC = -(1 << 63)


@dataclass(frozen=True)
class Filled:
    """A kernel that fills a tile from global memory of the other majorness, and returns the tile's bytes.

    Attributes:
        name: MLIR type of the tile's elements.
        swizzle: the tile's swizzle.
        lines, along: extents across and along the tile's contiguous dimension; 0 along stands for 128
            bytes.
        columns: whether the tile is column-major rather than row-major.
        permuted: whether the copy exchanges rows and columns.
        threads: threads of the CTA.
        start: (line, element) at which a subtile of that shape begins in a tile that is twice as large
            along each dimension; None for the whole tile.
        run_time: whether the start is known at run time only.
    """

    name: str
    swizzle: str = "128B"
    lines: int = 64
    along: int = 0
    columns: bool = False
    permuted: bool = False
    threads: int = 128
    start: tuple[int, int] | None = None
    run_time: bool = False

    def __str__(self) -> str:
        words = [self.name, self.swizzle, f"{self.lines}x{self.extent_along}", f"t{self.threads}"]
        words += ["columns"] * self.columns + ["permuted"] * self.permuted
        words += [f"at{self.start[0]}.{self.start[1]}"] if self.start else []
        return "-".join([*words, *["run-time"] * self.run_time])

    @property
    def extent_along(self) -> int:
        """Elements of a line."""
        return self.along or Swizzle.B128.atom_elements(element(ELEMENTS[self.name][0]))

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns) of the copy."""
        shape = (self.lines, self.extent_along)
        return shape[::-1] if self.columns else shape

    @property
    def whole(self) -> TileLayout:
        """The layout of the tile, of which the copy may fill a subtile."""
        rows, columns = self.shape
        shape = (2 * rows, 2 * columns) if self.start else (rows, columns)
        return _tile(self.name, shape, 0 if self.columns else 1, self.swizzle)

    @property
    def starts(self) -> tuple[int, int]:
        """(row, column) at which the subtile begins."""
        start = self.start or (0, 0)
        return start[::-1] if self.columns else start

    @property
    def text(self) -> str:
        """The text of the kernel."""
        memory_type, size = ELEMENTS[self.name][1], self.whole.size_bytes
        source = self.inputs()["A"]
        strides = [stride // source.itemsize for stride in source.strides]
        outer = max(strides)
        extents = [self.extent_along, self._memory_elements(self.lines)]
        extents = extents if strides[0] == outer else extents[::-1]
        offsets = [0 if stride == outer else self._lead for stride in strides]
        elements = f"{extents[0]}x{extents[1]}x{memory_type}"
        view = f"memref<{elements}, strided<{strides}, offset: {self._lead}>>"
        order = "column-major" if self.columns else "row-major"
        whole, subtile = ("x".join(map(str, shape)) for shape in (self.whole.shape, self.shape))
        attributes = "permutation = array<i64: 1, 0>, relayout" if self.permuted else "relayout"
        static = f"{DYNAMIC}, {DYNAMIC}" if self.run_time else ", ".join(map(str, self.starts))
        promise = f", multiple_of = array<i64: {_divisors(self.starts)}>" if self.run_time else ""
        operands = "%tile, %row, %column" if self.run_time else "%tile"
        types = "!tile, index, index" if self.run_time else "!tile"
        return f"""
!A = memref<{source.shape[0]}x{source.shape[1]}x{memory_type}, strided<{strides}>>
!source = {view}
!bytes = memref<{size}xi8, #gpu.address_space<workgroup>>
!words = memref<{size // 8}xi64, #gpu.address_space<workgroup>>
!D = memref<{size // 8}xi64>
!tile = !smem.tile<tensor<{whole}x{self.name}>, #smem.swizzle<"{self.swizzle}", "{order}">>
!subtile = !smem.tile<tensor<{subtile}x{self.name}>, #smem.auto>
!spare = !smem.tile<tensor<8x8xbf16>, #smem.auto>
gpu.module @kernels {{
  gpu.func @fill(%A: !A {{smem.name = "A"}}, %D: !D {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: {self.threads}, 1, 1>}} {{
    %spare = "smem.alloc"() : () -> !spare
    %thread = gpu.thread_id x
    %threads = gpu.block_dim x
    %nought = gpu.block_id y
    %r = arith.constant {self.starts[0]} : index
    %c = arith.constant {self.starts[1]} : index
    %row = arith.addi %nought, %r : index
    %column = arith.addi %nought, %c : index
    %zero = arith.constant 0 : index
    %size = arith.constant {size // 8} : index
    %none = arith.constant 0 : i64
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %bytes = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !bytes
    %words = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !words
    scf.for %i = %thread to %size step %threads {{
      memref.store %none, %words[%i] : !words
    }}
    gpu.barrier
    %tile = "smem.view"(%bytes) : (!bytes) -> !tile
    %subtile = "smem.subtile"({operands}) {{static_offsets = array<i64: {static}>{promise}}}
      : ({types}) -> !subtile
    %source = memref.subview %A{offsets} {extents} [1, 1] : !A to !source
    "smem.copy"(%source, %subtile) {{{attributes}}} : (!source, !subtile) -> ()
    gpu.barrier
    scf.for %i = %thread to %size step %threads {{
      %word = memref.load %words[%i] : !words
      memref.store %word, %D[%i] : !D
    }}
    gpu.return
  }}
}}
"""

    def _memory_elements(self, elements: int) -> int:
        """Elements of global memory that hold that number of the tile's elements."""
        return elements // 8 if self.name == "i1" else elements

    @property
    def _lead(self) -> int:
        """Elements of global memory before the copied elements of each of its lines: 16 bytes."""
        return self._memory_elements(element(ELEMENTS[self.name][0]).unit)

    def inputs(self) -> dict[str, np.ndarray]:
        """The source: contiguous across the tile's lines, with padding on both sides."""
        numbers = self._numbers()
        # Lines of global memory run across those of the tile.
        memory = numbers if self.columns else numbers.T
        if self.name == "i1":
            memory = np.packbits(memory, axis=1, bitorder="little").view(np.int8)
        behind = self._lead + -memory.shape[1] % self._lead
        memory = np.ascontiguousarray(np.pad(memory, ((0, 0), (self._lead, behind))))
        return {"A": memory if self.columns != self.permuted else memory.T}

    def _numbers(self) -> np.ndarray:
        """The values that are copied, in the tile's indices; bits have a byte each."""
        random = np.random.default_rng(len(str(self)))
        dtype = np.dtype(ELEMENTS[self.name][2])
        if self.name == "i1":
            return random.integers(0, 2, self.shape).astype(np.uint8)
        if dtype.itemsize == 4:
            return random.standard_normal(self.shape).astype(dtype)
        raw = random.integers(0, 256, (*self.shape, dtype.itemsize)).astype(np.uint8)
        return raw.view(dtype)[..., 0]

    def expected_bytes(self) -> np.ndarray:
        """The expected bytes of the tile."""
        whole = self.whole
        tile_bytes = np.zeros(whole.size_bytes, np.uint8)
        row, column = (
            np.arange(n) + start for n, start in zip(self.shape, self.starts, strict=True)
        )
        offsets = whole.offsets_at(row[:, None], column[None, :])
        numbers = self._numbers()
        if self.name == "i1":
            bit = whole.linear_at(row[:, None], column[None, :]) % 8
            np.bitwise_or.at(tile_bytes, offsets, numbers << bit.astype(np.uint8))
            return tile_bytes
        if self.name == "tf32":
            bits = numbers.view(np.uint32) + np.uint32(1 << 12)
            numbers = bits & np.uint32(0xFFFFE000)
        raw = np.ascontiguousarray(numbers).view(np.uint8).reshape(*self.shape, -1)
        for byte in range(raw.shape[-1]):
            tile_bytes[offsets + byte] = raw[..., byte]
        return tile_bytes

    def compile(self, **options):
        """The kernel, compiled; it allocates the tile's memory itself."""
        return mlir_smem.compile(self.text, reserved_bytes=self.whole.size_bytes, **options)

    def check(self, result: np.ndarray) -> None:
        """Check the bytes of the tile."""
        wrong = np.flatnonzero(result.view(np.uint8) != self.expected_bytes())
        assert wrong.size == 0, f"{self}: {wrong.size} bytes are wrong, the first at {wrong[0]}"

    def wavefronts(self) -> Access:
        """The predicted passes over the banks of the copy's stores, if it fills the whole tile.

        The kernel clears its memory before the copy: `size_bytes // 128` additional passes.
        """
        assert self.start is None
        return transposition(self.whole, self.threads).wavefronts(self.whole)


def _divisors(starts: tuple[int, int]) -> str:
    """The largest power of two that divides each start."""
    return ", ".join(str(start & -start or 1 << 20) for start in starts)


@dataclass(frozen=True)
class TransposingMma(Case):
    """D = A * B of an A that is K x M, M-major, in global memory, and an N-major B."""

    @property
    def text(self) -> str:
        lines = super().text.splitlines()
        for i, line in enumerate(lines):
            if line.startswith("!A = "):
                lines[i] = self._memref_types("A", self.a, 64)
            elif line.startswith("!B = "):
                lines[i] = self._memref_types("B", self.b, self.n)
        text = "\n".join(lines)
        attributes = {"A": "permutation = array<i64: 1, 0>, relayout", "B": "relayout"}
        for name, attribute in attributes.items():
            element = self.a if name == "A" else self.b
            extents = [self.k, self._memory_elements(element, 64 if name == "A" else self.n)]
            tile = name.lower()
            text = text.replace(
                f'"smem.copy"(%{name}, %{tile}) : (!{name}, !{tile}) -> ()',
                f"""%{tile}s = memref.subview %{name}[0, 0] {extents} [1, 1] : !{name} to !{name}s
    "smem.copy"(%{tile}s, %{tile}) {{{attribute}}} : (!{name}s, !{tile}) -> ()""",
            )
        return text

    def arguments(self) -> dict[str, np.ndarray]:
        """`inputs` in the order of the kernel's arguments; strides of lines are multiples of 16 bytes."""
        inputs = self.inputs()
        return {"A": self._transpose(inputs["A"]), "B": self._transpose(inputs["B"].T)}

    def wavefronts(self) -> Access:
        """The predicted passes over the banks of all stores to shared memory, for given swizzles. The
        kernel has no stores to shared memory except those of its copies."""
        layouts = [
            _tile(self.a, (64, self.k), 1, self.a_swizzle),
            _tile(self.b, (self.k, self.n), 0, self.b_swizzle),
        ]
        accesses = [transposition(layout, 128).wavefronts(layout) for layout in layouts]
        return Access(sum(a.wavefronts for a in accesses), sum(a.ideal for a in accesses))

    def _memref_types(self, name: str, element: str, across: int) -> str:
        extent, pitch = self._memory_elements(element, across), self._pitch(element, across)
        memory_type = ELEMENTS[element][1]
        return (
            f"!{name} = memref<{self.k}x{pitch}x{memory_type}>\n"
            f"!{name}s = memref<{self.k}x{extent}x{memory_type}, strided<[{pitch}, 1]>>"
        )

    @staticmethod
    def _memory_elements(element: str, elements: int) -> int:
        return elements // 8 if element == "i1" else elements

    def _pitch(self, element: str, across: int) -> int:
        unit = 16 // np.dtype(ELEMENTS[element][2]).itemsize
        return -(-self._memory_elements(element, across) // unit) * unit

    def _transpose(self, rows: np.ndarray) -> np.ndarray:
        transposed = rows.T
        if self.a == "i1":
            bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
            transposed = np.packbits(bits.T, axis=1, bitorder="little").view(np.int8)
        padding = -transposed.shape[1] * transposed.itemsize % 16 // transposed.itemsize
        return np.ascontiguousarray(np.pad(transposed, ((0, 0), (0, padding))))


def _tile(name: str, shape: tuple[int, int], contiguous: int, swizzle: str) -> TileLayout:
    width = 0 if swizzle == "none" else int(swizzle[:-1])
    element_type = element(ELEMENTS[name][0])
    return tile_of_atoms(element_type, shape, contiguous, Swizzle.of_width(width))
