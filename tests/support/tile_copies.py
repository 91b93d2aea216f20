"""Kernels that copy a tile to a tile and return the bytes of the second.

Only the layouts determine where an element is.
"""

from dataclasses import dataclass

import numpy as np
from relayouts import DYNAMIC, ELEMENTS

import mlir_smem
from mlir_smem.layout import Swizzle, TileLayout, element, tile_of_atoms

#: The type of the tile that is read, if it is not that of the tile that is written.
_SOURCE_TYPES = {"tf32": "f32"}

_DIRECTIONS = ("column-major", "row-major")


@dataclass(frozen=True)
class End:
    """A tile at one end of a copy.

    Attributes:
        swizzle: the tile's swizzle.
        contiguous: its contiguous dimension.
        start: where the copied subtile begins; the tile is larger than it by that number of elements.
            (0, 0) stands for the whole tile.
        step: for each run-time start, a divisor of it that is known; 0 for a static start.
    """

    swizzle: str = "128B"
    contiguous: int = 1
    start: tuple[int, int] = (0, 0)
    step: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        start = "-at{}.{}".format(*self.start) if any(self.start) else ""
        known = "-steps{}.{}".format(*self.step) if any(self.step) else ""
        return f"{self.swizzle}-{_DIRECTIONS[self.contiguous]}{start}{known}"

    def whole(self, name: str, shape: tuple[int, int]) -> TileLayout:
        """The layout of the tile of which a subtile of that shape is copied, padded to whole atoms."""
        width = 0 if self.swizzle == "none" else int(self.swizzle[:-1])
        element_type, swizzle = element(ELEMENTS[name][0]), Swizzle.of_width(width)
        extents = [a + b for a, b in zip(shape, self.start, strict=True)]
        atom = swizzle.atom_elements(element_type)
        extents[self.contiguous] = -(-extents[self.contiguous] // atom) * atom
        return tile_of_atoms(element_type, tuple(extents), self.contiguous, swizzle)

    def text(self, tile: str, name: str, shape: tuple[int, int]) -> tuple[str, str, str]:
        """The types of the tile and of its subtile, and the op that makes the subtile."""
        whole = "x".join(map(str, self.whole(name, shape).shape))
        subtile = "x".join(map(str, shape))
        offsets = [DYNAMIC if s else n for n, s in zip(self.start, self.step, strict=True)]
        known = ", ".join(str(s) for s in self.step if s)
        promise = f", multiple_of = array<i64: {known}>" if known else ""
        dynamic = [i for i, step in enumerate(self.step) if step]
        operands = ", ".join([f"%{tile}", *(f"%{tile}{i}" for i in dynamic)])
        types = ", ".join([f"!{tile}", *("index" for _ in dynamic)])
        positions = "\n    ".join(
            f"%{tile}n{i} = arith.constant {self.start[i]} : index\n"
            f"    %{tile}{i} = arith.addi %nought, %{tile}n{i} : index"
            for i in dynamic
        )
        return (
            f"!smem.tile<tensor<{whole}x{name}>, "
            f'#smem.swizzle<"{self.swizzle}", "{_DIRECTIONS[self.contiguous]}">>',
            f"!smem.tile<tensor<{subtile}x{name}>, #smem.auto>",
            f"""{positions}
    %{tile}_subtile = "smem.subtile"({operands})
      {{static_offsets = array<i64: {offsets[0]}, {offsets[1]}>{promise}}}
      : ({types}) -> !{tile}_subtile""",
        )


@dataclass(frozen=True)
class TileCopyKernel:
    """A kernel that copies a tile to a tile.

    Attributes:
        name: MLIR type of the elements of the tile that is written.
        shape: (rows, columns) of the copy, in the indices of the tile that is written.
        source, target: the two tiles.
        permuted: whether the copy exchanges rows and columns.
        threads: threads of the CTA.
    """

    name: str
    shape: tuple[int, int]
    source: End
    target: End
    permuted: bool = False
    threads: int = 128

    def __str__(self) -> str:
        words = [
            *(self.name, "x".join(map(str, self.shape)), str(self.source), "to", str(self.target)),
            *["permuted"] * self.permuted,
        ]
        return "-".join([*words, f"t{self.threads}"])

    @property
    def is_transposing(self) -> bool:
        """Whether the copy changes which dimension is contiguous."""
        return (self.source.contiguous != self.target.contiguous) != self.permuted

    @property
    def text(self) -> str:
        """The text of the kernel; a copy that transposes nothing has no `relayout`."""
        source_type = _SOURCE_TYPES.get(self.name, self.name)
        matrix = self._source_matrix()
        size = self._layout().size_bytes
        strides = [stride // matrix.itemsize for stride in matrix.strides]
        from_type, from_subtile, from_ops = self.source.text("from", source_type, matrix.shape)
        to_type, to_subtile, to_ops = self.target.text("to", self.name, self.shape)
        flags = ["permutation = array<i64: 1, 0>"] * self.permuted
        flags += ["relayout"] * self.is_transposing
        attributes = f" {{{', '.join(flags)}}}" if flags else ""
        return f"""
!A = memref<{matrix.shape[0]}x{matrix.shape[1]}x{source_type}, strided<{strides}>>
!bytes = memref<{size}xi8, #gpu.address_space<workgroup>>
!words = memref<{size // 8}xi64, #gpu.address_space<workgroup>>
!D = memref<{size // 8}xi64>
!from = {from_type}
!from_subtile = {from_subtile}
!to = {to_type}
!to_subtile = {to_subtile}
gpu.module @kernels {{
  gpu.func @between(%A: !A {{smem.name = "A"}}, %D: !D {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: {self.threads}, 1, 1>}} {{
    %thread = gpu.thread_id x
    %threads = gpu.block_dim x
    %nought = gpu.block_id y
    %zero = arith.constant 0 : index
    %size = arith.constant {size // 8} : index
    %none = arith.constant 0 : i64
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %bytes = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !bytes
    %words = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !words
    scf.for %i = %thread to %size step %threads {{
      memref.store %none, %words[%i] : !words
    }}
    %from = "smem.alloc"() : () -> !from
    {from_ops}
    "smem.copy"(%A, %from_subtile) : (!A, !from_subtile) -> ()
    gpu.barrier
    %to = "smem.view"(%bytes) : (!bytes) -> !to
    {to_ops}
    "smem.copy"(%from_subtile, %to_subtile){attributes} : (!from_subtile, !to_subtile) -> ()
    gpu.barrier
    scf.for %i = %thread to %size step %threads {{
      %word = memref.load %words[%i] : !words
      memref.store %word, %D[%i] : !D
    }}
    gpu.return
  }}
}}
"""

    def _layout(self) -> TileLayout:
        """The layout of the tile that is written."""
        return self.target.whole(self.name, self.shape)

    def _numbers(self) -> np.ndarray:
        """The values that are copied, in the indices of the tile that is written."""
        random = np.random.default_rng(len(str(self)))
        dtype = np.dtype(ELEMENTS[self.name][2])
        if dtype.itemsize == 4:
            return random.standard_normal(self.shape).astype(dtype)
        raw = random.integers(0, 256, (*self.shape, dtype.itemsize)).astype(np.uint8)
        return raw.view(dtype)[..., 0]

    def _source_matrix(self) -> np.ndarray:
        """The matrix that fills the tile that is read; both have the same contiguous dimension."""
        numbers = self._numbers().T if self.permuted else self._numbers()
        return np.asarray(numbers, order="FC"[self.source.contiguous])

    def inputs(self) -> dict[str, np.ndarray]:
        """The inputs."""
        return {"A": self._source_matrix()}

    def expected_bytes(self) -> np.ndarray:
        """The expected bytes of the tile that is written; 0 outside of the copy."""
        layout = self._layout()
        tile_bytes = np.zeros(layout.size_bytes, np.uint8)
        row, column = (
            np.arange(n) + start for n, start in zip(self.shape, self.target.start, strict=True)
        )
        offsets = layout.offsets_at(row[:, None], column[None, :])
        numbers = self._numbers()
        if self.name == "tf32":
            numbers = (numbers.view(np.uint32) + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)
        raw = np.ascontiguousarray(numbers).view(np.uint8).reshape(*self.shape, -1)
        for byte in range(raw.shape[-1]):
            tile_bytes[offsets + byte] = raw[..., byte]
        return tile_bytes

    def compile(self, **options):
        """The kernel, compiled; it allocates the memory of the tile that is written."""
        return mlir_smem.compile(self.text, reserved_bytes=self._layout().size_bytes, **options)

    def check(self, result: np.ndarray) -> None:
        """Check the bytes of the tile that is written."""
        wrong = np.flatnonzero(result.view(np.uint8) != self.expected_bytes())
        assert wrong.size == 0, f"{self}: {wrong.size} bytes are wrong, the first at {wrong[0]}"


def whole_tiles(names: tuple[str, ...], swizzles: tuple[str, ...]) -> list[TileCopyKernel]:
    """Copies of whole tiles: each tile row-major and column-major, with and without a permutation."""
    kernels = []
    for name in names:
        line = 128 // np.dtype(ELEMENTS[name][2]).itemsize
        for place, (a, b) in enumerate((a, b) for a in swizzles for b in swizzles):
            for permuted in (False, True):
                for source, target in ((0, 1), (1, 0), (1, 1), (0, 0)):
                    more = (line, 2 * line)[place % 2]
                    shape = (line, more) if target else (more, line)
                    threads = (128, 256)[(place + source) % 2]
                    kernels.append(
                        TileCopyKernel(
                            name, shape, End(a, source), End(b, target), permuted, threads
                        )
                    )
    return kernels


#: Copies of subtiles that begin inside a pattern, inside a line, and at run-time starts.
PARTS = [
    TileCopyKernel(name, shape, source, target, permuted)
    for swizzle in ("128B", "32B")
    for permuted in (False, True)
    for name, shape, source, target in (
        ("i8", (32, 64), End(swizzle, 0, (64, 5)), End("128B", 1, (3, 16))),
        ("i8", (64, 32), End(swizzle, 1, (7, 16), (1, 16)), End("64B", 0, (16, 9), (16, 1))),
        ("f32", (16, 24), End("none", 0, (4, 1), (4, 0)), End(swizzle, 1, (1, 8), (0, 4))),
        ("bf16", (40, 64), End(swizzle, 1, (8, 64), (8, 64)), End("128B", 1, (5, 64), (1, 0))),
    )
]
