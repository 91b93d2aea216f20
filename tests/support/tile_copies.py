"""Kernels that copy a tile to a tile and give the bytes of the second: nothing but the layouts says
where an element lies."""

from dataclasses import dataclass

import numpy as np
from relayouts import DYNAMIC, ELEMENTS

import mlir_smem
from mlir_smem.layout import Swizzle, TileLayout, element, tile_of_atoms

#: What a tile of the other's type is filled from.
_HELD = {"tf32": "f32"}

_ORDERS = ("column-major", "row-major")


@dataclass(frozen=True)
class End:
    """A tile at one end of a copy.

    Attributes:
        swizzle: of the tile.
        contiguous: its contiguous dimension.
        start: where the part that is copied begins, in a tile that is as much larger; the whole tile if
            it is (0, 0).
        step: for each start, what it is known to be a multiple of where it is known at run time only;
            0 if it is known.
    """

    swizzle: str = "128B"
    contiguous: int = 1
    start: tuple[int, int] = (0, 0)
    step: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        at = "-at{}.{}".format(*self.start) if any(self.start) else ""
        known = "-steps{}.{}".format(*self.step) if any(self.step) else ""
        return f"{self.swizzle}-{_ORDERS[self.contiguous]}{at}{known}"

    def whole(self, name: str, shape: tuple[int, int]) -> TileLayout:
        """The layout of the tile of which a part of that shape is copied, padded to whole atoms."""
        width = 0 if self.swizzle == "none" else int(self.swizzle[:-1])
        element_type, swizzle = element(ELEMENTS[name][0]), Swizzle.of_width(width)
        extents = [a + b for a, b in zip(shape, self.start, strict=True)]
        atom = swizzle.atom_elements(element_type)
        extents[self.contiguous] = -(-extents[self.contiguous] // atom) * atom
        return tile_of_atoms(element_type, tuple(extents), self.contiguous, swizzle)

    def text(self, tile: str, name: str, shape: tuple[int, int]) -> tuple[str, str, str]:
        """The types of the tile and of its part, and the op that takes the part."""
        whole = "x".join(map(str, self.whole(name, shape).shape))
        part = "x".join(map(str, shape))
        offsets = [DYNAMIC if s else n for n, s in zip(self.start, self.step, strict=True)]
        known = ", ".join(str(s) for s in self.step if s)
        promise = f", multiple_of = array<i64: {known}>" if known else ""
        at = [i for i, step in enumerate(self.step) if step]
        operands = ", ".join([f"%{tile}", *(f"%{tile}{i}" for i in at)])
        types = ", ".join([f"!{tile}", *("index" for _ in at)])
        positions = "\n    ".join(
            f"%{tile}n{i} = arith.constant {self.start[i]} : index\n"
            f"    %{tile}{i} = arith.addi %nought, %{tile}n{i} : index"
            for i in at
        )
        return (
            f"!smem.tile<tensor<{whole}x{name}>, "
            f'#smem.swizzle<"{self.swizzle}", "{_ORDERS[self.contiguous]}">>',
            f"!smem.tile<tensor<{part}x{name}>, #smem.auto>",
            f"""{positions}
    %{tile}_part = "smem.subtile"({operands})
      {{static_offsets = array<i64: {offsets[0]}, {offsets[1]}>{promise}}}
      : ({types}) -> !{tile}_part""",
        )


@dataclass(frozen=True)
class Between:
    """A kernel.

    Attributes:
        name: MLIR type of the elements of the tile that is written.
        shape: (rows, columns) of what is copied, as the tile that is written indexes it.
        source, target: the two tiles.
        permuted: whether rows and columns are exchanged on the way.
        threads: of the block.
    """

    name: str
    shape: tuple[int, int]
    source: End
    target: End
    permuted: bool = False
    threads: int = 128

    def __str__(self) -> str:
        said = [self.name, "x".join(map(str, self.shape)), str(self.source), "to", str(self.target)]
        return "-".join([*said, *["permuted"] * self.permuted, f"t{self.threads}"])

    @property
    def turned(self) -> bool:
        """Whether the copy changes which dimension is contiguous."""
        return (self.source.contiguous != self.target.contiguous) != self.permuted

    @property
    def text(self) -> str:
        """The kernel; a copy that transposes nothing does not say `relayout`."""
        held = _HELD.get(self.name, self.name)
        given = self._given()
        size = self._layout().size_bytes
        strides = [stride // given.itemsize for stride in given.strides]
        from_type, from_part, from_ops = self.source.text("from", held, given.shape)
        to_type, to_part, to_ops = self.target.text("to", self.name, self.shape)
        said = ["permutation = array<i64: 1, 0>"] * self.permuted + ["relayout"] * self.transposed
        attributes = f" {{{', '.join(said)}}}" if said else ""
        return f"""
!A = memref<{given.shape[0]}x{given.shape[1]}x{held}, strided<{strides}>>
!bytes = memref<{size}xi8, #gpu.address_space<workgroup>>
!from = {from_type}
!from_part = {from_part}
!to = {to_type}
!to_part = {to_part}
gpu.module @kernels {{
  gpu.func @between(%A: !A {{smem.name = "A"}}, %D: memref<{size}xi8> {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: {self.threads}, 1, 1>}} {{
    %thread = gpu.thread_id x
    %threads = gpu.block_dim x
    %nought = gpu.block_id y
    %zero = arith.constant 0 : index
    %size = arith.constant {size} : index
    %none = arith.constant 0 : i8
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %bytes = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !bytes
    scf.for %i = %thread to %size step %threads {{
      memref.store %none, %bytes[%i] : !bytes
    }}
    %from = "smem.alloc"() : () -> !from
    {from_ops}
    "smem.copy"(%A, %from_part) : (!A, !from_part) -> ()
    gpu.barrier
    %to = "smem.view"(%bytes) : (!bytes) -> !to
    {to_ops}
    "smem.copy"(%from_part, %to_part){attributes} : (!from_part, !to_part) -> ()
    gpu.barrier
    scf.for %i = %thread to %size step %threads {{
      %byte = memref.load %bytes[%i] : !bytes
      memref.store %byte, %D[%i] : memref<{size}xi8>
    }}
    gpu.return
  }}
}}
"""

    def _layout(self) -> TileLayout:
        """The layout of the tile that is written."""
        return self.target.whole(self.name, self.shape)

    def _numbers(self) -> np.ndarray:
        """What is copied, as the tile that is written indexes it."""
        random = np.random.default_rng(len(str(self)))
        dtype = np.dtype(ELEMENTS[self.name][2])
        if dtype.itemsize == 4:
            return random.standard_normal(self.shape).astype(dtype)
        raw = random.integers(0, 256, (*self.shape, dtype.itemsize)).astype(np.uint8)
        return raw.view(dtype)[..., 0]

    def _given(self) -> np.ndarray:
        """The matrix that fills the tile that is read, which lies in memory as that does."""
        numbers = self._numbers().T if self.permuted else self._numbers()
        return np.asarray(numbers, order="FC"[self.source.contiguous])

    def inputs(self) -> dict[str, np.ndarray]:
        """What is given."""
        return {"A": self._given()}

    def expected(self) -> np.ndarray:
        """The bytes of the tile that is written, and 0 where nothing is."""
        layout = self._layout()
        found = np.zeros(layout.size_bytes, np.uint8)
        row, column = (
            np.arange(n) + at for n, at in zip(self.shape, self.target.start, strict=True)
        )
        offsets = layout.offsets_at(row[:, None], column[None, :])
        numbers = self._numbers()
        if self.name == "tf32":
            numbers = (numbers.view(np.uint32) + np.uint32(1 << 12)) & np.uint32(0xFFFFE000)
        raw = np.ascontiguousarray(numbers).view(np.uint8).reshape(*self.shape, -1)
        for byte in range(raw.shape[-1]):
            found[offsets + byte] = raw[..., byte]
        return found

    def compiled(self, **options):
        """The kernel, compiled; the memory of the tile that is written is its own."""
        return mlir_smem.compile(self.text, reserved_bytes=self._layout().size_bytes, **options)

    def check(self, result: np.ndarray) -> None:
        """Checks the bytes that were read back."""
        wrong = np.flatnonzero(result.view(np.uint8) != self.expected())
        assert wrong.size == 0, f"{self}: {wrong.size} bytes are wrong, the first at {wrong[0]}"


def whole_tiles(names: tuple[str, ...], swizzles: tuple[str, ...]) -> list[Between]:
    """Copies of whole tiles: both orders of each, with indices exchanged or not."""
    found = []
    for name in names:
        line = 128 // np.dtype(ELEMENTS[name][2]).itemsize
        for place, (a, b) in enumerate((a, b) for a in swizzles for b in swizzles):
            for permuted in (False, True):
                for source, target in ((0, 1), (1, 0), (1, 1), (0, 0)):
                    more = (line, 2 * line)[place % 2]
                    shape = (line, more) if target else (more, line)
                    threads = (128, 256)[(place + source) % 2]
                    found.append(
                        Between(name, shape, End(a, source), End(b, target), permuted, threads)
                    )
    return found


#: Parts that begin in a line of a pattern, at a unit within a line, and where only the kernel knows.
PARTS = [
    Between(name, shape, source, target, permuted)
    for swizzle in ("128B", "32B")
    for permuted in (False, True)
    for name, shape, source, target in (
        ("i8", (32, 64), End(swizzle, 0, (64, 5)), End("128B", 1, (3, 16))),
        ("i8", (64, 32), End(swizzle, 1, (7, 16), (1, 16)), End("64B", 0, (16, 9), (16, 1))),
        ("f32", (16, 24), End("none", 0, (4, 1), (4, 0)), End(swizzle, 1, (1, 8), (0, 4))),
        ("bf16", (40, 64), End(swizzle, 1, (8, 64), (8, 64)), End("128B", 1, (5, 64), (1, 0))),
    )
]
