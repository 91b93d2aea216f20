"""Kernels of a host that uses tiles: its own memory and stores, vectors of registers."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from mlir_smem.layout import ARCHS, a_fragment_coordinates, accumulator_coordinates, element

ACCUMULATORS = {"f32": np.float32, "f16": np.float16, "i32": np.int32}

#: By the MLIR type of A: the type of the vector's elements, those of B and D, NumPy's type of A, and the
#: ISA's.
FRAGMENTS = {
    "bf16": ("bf16", "bf16", "f32", ml_dtypes.bfloat16, "bf16"),
    "f16": ("f16", "f16", "f16", np.float16, "f16"),
    "tf32": ("f32", "tf32", "f32", np.float32, "tf32"),
    "f8E4M3FN": ("f8E4M3FN", "f8E4M3FN", "f32", ml_dtypes.float8_e4m3fn, "e4m3"),
    "i8": ("i8", "ui8", "i32", np.int8, "s8"),
    "ui8": ("i8", "ui8", "i32", np.uint8, "u8"),
}

#: D = 2 * A * B. The threads load A and the transposed B, store both by 16 bytes where the layouts have
#: them, and store their registers of D as vectors.
STORES = """
!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!m = memref<64x64xbf16, strided<[64, 1]>>
gpu.module @kernels {
  memref.global "private" @bytes : !w
  gpu.func @kernel(%A: !m {smem.name = "A"}, %Bt: !m {smem.name = "Bt"},
                   %O: memref<128x32xf32> {smem.name = "O"})
      workgroup(%first: !w) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c512 = arith.constant 512 : index
    %second = memref.get_global @bytes : !w
    %a = "smem.view"(%first) : (!w) -> !a
    %b = "smem.view"(%second) : (!w) -> !a
    %thread = gpu.thread_id x
    scf.for %i = %thread to %c512 step %c128 {
      %line = arith.divui %i, %c8 : index
      %unit = arith.remui %i, %c8 : index
      %along = arith.muli %unit, %c8 : index
      %v = vector.load %A[%line, %along] : !m, vector<8xbf16>
      %o = "smem.offset"(%a, %line, %along) {vector = array<i64: 1, 8>} : (!a, index, index) -> index
      vector.store %v, %first[%o] : !w, vector<8xbf16>
      %w = vector.load %Bt[%line, %along] : !m, vector<8xbf16>
      %p = "smem.offset"(%b, %along, %line) {vector = array<i64: 8, 1>} : (!a, index, index) -> index
      vector.store %w, %second[%p] : !w, vector<8xbf16>
    }
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) : (!a, !a) -> !d
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    %r = "smem.to_registers"(%e) : (!c) -> vector<32xf32>
    %s = arith.addf %r, %r : vector<32xf32>
    vector.store %s, %O[%thread, %c0] : memref<128x32xf32>, vector<32xf32>
    gpu.return
  }
}
"""


def stores_inputs():
    """A and the transposed B."""
    random = np.random.default_rng(0)
    return {
        name: random.integers(-3, 4, (64, 64)).astype(ml_dtypes.bfloat16) for name in ("A", "Bt")
    }


def stores_exact(inputs):
    """The vector of each thread."""
    a, b = (inputs[name].astype(np.float32) for name in ("A", "Bt"))
    row, column = np.moveaxis(accumulator_coordinates(64, 64), -1, 0)
    return (2 * a @ b.T)[row, column]


def kernel(arguments, body):
    """A kernel of one warpgroup, with the thread's index."""
    return f"""
gpu.module @kernels {{
  gpu.func @kernel({arguments}) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %thread = gpu.thread_id x
    %c0 = arith.constant 0 : index
    {body}
    gpu.return
  }}
}}
"""


@dataclass(frozen=True)
class VectorProduct:
    """D = A * B + C of one warpgroup; the threads have A, C and D as vectors of registers.

    Attributes:
        m: rows.
        a: the MLIR type of A.
        arch: the target.
        n, k: columns and depth.
    """

    m: int
    a: str
    arch: str = "sm_90a"
    n: int = 32
    k: int = 64

    @property
    def text(self):
        """The kernel."""
        m, n, k, a = self.m, self.n, self.k, self.a
        memory_type, b, d, *_ = FRAGMENTS[a]
        of_b = {"tf32": "f32"}.get(b, b)
        fragment = f"!smem.fragment<tensor<{m}x{k}x{a}>, #smem.a_fragment>"
        vector = f"vector<{m * k // 128}x{memory_type}>"
        vectors = f"memref<128x{m * k // 128}x{memory_type}>"
        tile = f"!smem.tile<tensor<{k}x{n}x{b}>, #smem.auto>"
        source = f"memref<{k}x{n}x{of_b}, strided<[1, {k}]>>"
        ready = f"!smem.fragment<tensor<{m}x{n}x{d}>, #smem.accumulator>"
        flying = f"!smem.fragment<tensor<{m}x{n}x{d}>, #smem.in_flight>"
        c_vector, c_vectors = f"vector<{m * n // 128}x{d}>", f"memref<128x{m * n // 128}x{d}>"
        return kernel(
            f'%A: {vectors} {{smem.name = "A"}}, %B: {source} {{smem.name = "B"}}, '
            f'%C: {c_vectors} {{smem.name = "C"}}, %O: {c_vectors} {{smem.name = "O"}}',
            f"""
        %b = "smem.alloc"() : () -> {tile}
        "smem.copy"(%B, %b) : ({source}, {tile}) -> ()
        "smem.fence"() : () -> ()
        gpu.barrier
        %v = vector.load %A[%thread, %c0] : {vectors}, {vector}
        %a = "smem.from_registers"(%v) : ({vector}) -> {fragment}
        %w = vector.load %C[%thread, %c0] : {c_vectors}, {c_vector}
        %c = "smem.from_registers"(%w) : ({c_vector}) -> {ready}
        %d = "smem.mma"(%a, %b, %c) : ({fragment}, {tile}, {ready}) -> {flying}
        %e = "smem.wait"(%d) {{pending = 0 : i32}} : ({flying}) -> {ready}
        %o = "smem.to_registers"(%e) : ({ready}) -> {c_vector}
        vector.store %o, %O[%thread, %c0] : {c_vectors}, {c_vector}
        """,
        )

    def inputs(self):
        """A and C as vectors, and B."""
        memory_type, b, d, dtype, _ = FRAGMENTS[self.a]
        random = np.random.default_rng(0)
        a = random.integers(0, 4, (self.m, self.k)).astype(dtype)[self._a]
        other = random.integers(0, 4, (self.k, self.n)).astype(np.uint8 if b == "ui8" else dtype)
        c = random.integers(0, 8, (self.m, self.n)).astype(ACCUMULATORS[d])
        return {
            "A": a.view(np.int8) if memory_type == "i8" else a,
            "B": np.asfortranarray(other),
            "C": c[self._d],
        }

    def exact(self, inputs):
        """D as vectors."""
        a, d = np.zeros((self.m, self.k)), np.zeros((self.m, self.n))
        a[self._a] = inputs["A"].view(FRAGMENTS[self.a][3])
        d[self._d] = inputs["C"]
        return (a @ inputs["B"].astype(np.float64) + d)[self._d]

    @property
    def _arch(self):
        return ARCHS[self.arch[:-1]]

    @property
    def _a(self):
        element_type = element(FRAGMENTS[self.a][4])
        return tuple(
            np.moveaxis(a_fragment_coordinates(self.m, self.k, element_type, self._arch), -1, 0)
        )

    @property
    def _d(self):
        return tuple(np.moveaxis(accumulator_coordinates(self.m, self.n, self._arch), -1, 0))
