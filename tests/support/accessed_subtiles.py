"""Kernels that move a fragment between registers and a subtile.

The tile's bytes are an input or an output, so that only the layout determines where an element is.
"""

from dataclasses import dataclass

import numpy as np
from relayouts import DYNAMIC, ELEMENTS

import mlir_smem
from mlir_smem.layout import TileLayout
from mlir_smem.layout.swizzle import WIDEST_FIRST

#: The accumulator type of A * 1, by the element type of A.
_ACCUMULATORS = {"i8": "i32", "ui8": "i32", "i1": "i32"}

_DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32}


@dataclass(frozen=True)
class AccessKernel:
    """A kernel that accesses a subtile.

    Attributes:
        how: "store" of an accumulator, "load" of one, or "multiply": a load of an A, which is multiplied
            by the identity.
        name: MLIR type of the tile's elements.
        d: MLIR type of the accumulator.
        layout: the tile's layout.
        shape: (rows, columns) of the subtile.
        starts: (row, column) at which it begins.
        steps: for each run-time start, a divisor of it that is known; 0 for a static start.
    """

    how: str
    name: str
    d: str
    layout: TileLayout
    shape: tuple[int, int]
    starts: tuple[int, int]
    steps: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        starts = [
            f"{step}n={n}" if step else str(n)
            for n, step in zip(self.starts, self.steps, strict=True)
        ]
        shape = "x".join(map(str, self.shape))
        return f"{self.how} {self.name} {self.d} {shape} at {starts} of {self.layout}"

    @property
    def text(self) -> str:
        """The text of the kernel."""
        rows, columns = self.shape
        words = self.layout.size_bytes // 4
        bytes_, matrix = f"memref<{words}xi32>", f"memref<{rows}x{columns}x{self.d}>"
        input_type, output_type = (matrix, bytes_) if self.how == "store" else (bytes_, matrix)
        _, memory_type, _ = ELEMENTS[self.name]
        packed = columns // (8 if self.name == "i1" else 1)
        whole = "x".join(map(str, self.layout.shape))
        dynamic = [i for i, step in enumerate(self.steps) if step]
        offsets = [DYNAMIC if step else n for n, step in zip(self.starts, self.steps, strict=True)]
        promise = ", ".join(str(self.steps[i]) for i in dynamic)
        promise = f", multiple_of = array<i64: {promise}>" if promise else ""
        operands = ", ".join(["%tile", *(f"%at{i}" for i in dynamic)])
        types = ", ".join(["!tile", *("index" for _ in dynamic)])
        one = ', %I: !I {smem.name = "I"}' if self.how == "multiply" else ""
        return f"""
!X = {input_type}
!D = {output_type}
!I = memref<{packed}x{columns}x{memory_type}, strided<[1, {packed}]>>
!bytes = memref<{words * 4}xi8, #gpu.address_space<workgroup>>
!words = memref<{words}xi32, #gpu.address_space<workgroup>>
!tile = !smem.tile<tensor<{whole}x{self.name}>, #smem.layout<"{self.layout.cute}">>
!subtile = !smem.tile<tensor<{rows}x{columns}x{self.name}>, #smem.auto>
!one = !smem.tile<tensor<{columns}x{columns}x{self.name}>, #smem.auto>
!a = !smem.fragment<tensor<{rows}x{columns}x{self.name}>, #smem.a_fragment>
!flying = !smem.fragment<tensor<{rows}x{columns}x{self.d}>, #smem.in_flight>
!d = !smem.fragment<tensor<{rows}x{columns}x{self.d}>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @access(%X: !X {{smem.name = "X"}}, %D: !D {{smem.name = "D"}}{one})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %thread = gpu.thread_id x
    %nought = gpu.block_id y
    %zero = arith.constant 0 : index
    %threads = arith.constant 128 : index
    %size = arith.constant {words} : index
    %none = arith.constant 0 : i32
    %n0 = arith.constant {self.starts[0]} : index
    %n1 = arith.constant {self.starts[1]} : index
    %at0 = arith.addi %nought, %n0 : index
    %at1 = arith.addi %nought, %n1 : index
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %bytes = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !bytes
    %words = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !words
    %tile = "smem.view"(%bytes) : (!bytes) -> !tile
    %subtile = "smem.subtile"({operands})
      {{static_offsets = array<i64: {offsets[0]}, {offsets[1]}>{promise}}} : ({types}) -> !subtile
    scf.for %i = %thread to %size step %threads {{
      {self._first}
      memref.store %word, %words[%i] : !words
    }}
    gpu.barrier
    {self._move}
    gpu.return
  }}
}}
"""

    @property
    def _first(self) -> str:
        """The ops that give a word of the tile its initial value."""
        if self.how == "store":
            return "%word = arith.addi %none, %none : i32"
        return "%word = memref.load %X[%i] : !X"

    @property
    def _move(self) -> str:
        if self.how == "store":
            return """%d = "smem.load"(%X) : (!X) -> !d
    "smem.store"(%d, %subtile) : (!d, !subtile) -> ()
    gpu.barrier
    scf.for %i = %thread to %size step %threads {
      %word = memref.load %words[%i] : !words
      memref.store %word, %D[%i] : !D
    }"""
        if self.how == "load":
            return """%d = "smem.load"(%subtile) : (!subtile) -> !d
    "smem.store"(%d, %D) : (!d, !D) -> ()"""
        return """%one = "smem.alloc"() : () -> !one
    "smem.copy"(%I, %one) : (!I, !one) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %a = "smem.load"(%subtile) : (!subtile) -> !a
    %flying = "smem.mma"(%a, %one) : (!a, !one) -> !flying
    %d = "smem.wait"(%flying) {pending = 0 : i32} : (!flying) -> !d
    "smem.store"(%d, %D) : (!d, !D) -> ()"""

    def _numbers(self) -> np.ndarray:
        """The values: integers that all types represent."""
        random = np.random.default_rng(sum(self.starts) + self.shape[1])
        least, most = (0, 2) if self.name == "i1" else (0 if self.name == "ui8" else -8, 9)
        return random.integers(least, most, self.shape)

    def _bytes(self) -> np.ndarray:
        """The bytes of the tile: the values in the subtile, and 0 elsewhere."""
        tile_bytes = np.zeros(self.layout.size_bytes, np.uint8)
        rows, columns = (
            np.arange(n) + start for n, start in zip(self.shape, self.starts, strict=True)
        )
        index = (rows[:, None], columns[None, :])
        offsets, numbers = self.layout.offsets_at(*index), self._numbers()
        if self.name == "i1":
            bit = self.layout.linear_at(*index) % 8
            np.bitwise_or.at(tile_bytes, offsets, (numbers << bit).astype(np.uint8))
            return tile_bytes
        raw = numbers.astype(ELEMENTS[self.name][2])[..., None].view(np.uint8)
        for byte in range(raw.shape[-1]):
            tile_bytes[offsets + byte] = raw[..., byte]
        return tile_bytes

    def inputs(self) -> dict[str, np.ndarray]:
        """The inputs: a matrix or the tile's bytes, and the identity for "multiply"."""
        if self.how == "store":
            return {"X": self._numbers().astype(_DTYPES[self.d])}
        if self.how == "load":
            return {"X": self._words()}
        one = np.eye(self.shape[1], dtype=np.uint8)
        if self.name == "i1":
            one = np.packbits(one, axis=1, bitorder="little").view(np.int8)
        return {"X": self._words(), "I": one.astype(ELEMENTS[self.name][2]).T}

    def _words(self) -> np.ndarray:
        return self._bytes().view(np.int32)

    def expected_output(self) -> np.ndarray:
        """The expected output."""
        return self._words() if self.how == "store" else self._numbers().astype(_DTYPES[self.d])

    def compile(self, **options):
        """The kernel, compiled for an architecture with the swizzle; it allocates the tile's memory."""
        arch = "sm_90a" if self.layout.swizzle in WIDEST_FIRST else "sm_100a"
        return mlir_smem.compile(
            self.text, arch=arch, reserved_bytes=self.layout.size_bytes, **options
        )


def accumulator_of(name: str) -> str:
    """The accumulator type of A * 1, for an A of that MLIR type."""
    return _ACCUMULATORS.get(name, "f32")
