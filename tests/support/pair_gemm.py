"""A GEMM of CTA pairs: one thread of each CTA loads into a pipeline, one warpgroup executes the mma."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

#: Rows of each CTA, and K of a tile (bf16).
ROWS, DEPTH = 128, 64


@dataclass(frozen=True)
class PairGemm:
    """D = A * B of bf16, in f32.

    Attributes:
        n: columns of B that each CTA of a pair loads; a tile of D has twice this number.
        tiles: the neighbouring tiles of D that each pair computes.
        stages: those of the pipeline.
        major: "k" or "n", the dimension along which B is contiguous.
    """

    n: int = 64
    tiles: int = 2
    stages: int = 3
    major: str = "n"

    def __str__(self) -> str:
        return f"n{self.n}-tiles{self.tiles}-stages{self.stages}-{self.major}"

    @property
    def text(self) -> str:
        """The kernel."""
        columns = 2 * self.n
        strides = "[?, 1]" if self.major == "n" else "[1, ?]"
        return f"""
!A = memref<?x?xbf16>
!B = memref<?x?xbf16, strided<{strides}>>
!D = memref<?x?xf32>
!tile = memref<{ROWS}x{columns}xf32, strided<[?, 1], offset: ?>>
!as = !smem.tile<tensor<{self.stages}x{ROWS}x{DEPTH}xbf16>, #smem.auto>
!bs = !smem.tile<tensor<{self.stages}x{DEPTH}x{self.n}xbf16>, #smem.auto>
!a = !smem.tile<tensor<{ROWS}x{DEPTH}xbf16>, #smem.auto>
!b = !smem.tile<tensor<{DEPTH}x{self.n}xbf16>, #smem.auto>
!pipeline = !smem.pipeline
!running = !smem.fragment<tensor<{ROWS}x{columns}xf32>, #smem.in_flight>
!readable = !smem.fragment<tensor<{ROWS}x{columns}xf32>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @gemm(%A: !A {{smem.name = "A", smem.shape = ["M", "K"]}},
                 %B: !B {{smem.name = "B", smem.shape = ["K", "N"]}},
                 %D: !D {{smem.name = "D", smem.shape = ["M", "N"]}})
      kernel attributes {{known_block_size = array<i32: 256, 1, 1>,
                         known_cluster_size = array<i32: 2, 1, 1>,
                         smem.grid = [["M", {ROWS}], ["N", {self.tiles * columns}]]}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %rows = arith.constant {ROWS} : index
    %depth = arith.constant {DEPTH} : index
    %own_columns = arith.constant {self.n} : index
    %columns = arith.constant {columns} : index
    %tiles = arith.constant {self.tiles} : index
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %rank = gpu.cluster_block_id x
    %row = arith.muli %bx, %rows : index
    %first_tile = arith.muli %by, %tiles : index
    %half = arith.muli %rank, %own_columns : index
    %k = memref.dim %A, %c1 : !A
    %steps = arith.ceildivui %k, %depth : index
    %as = "smem.alloc"() : () -> !as
    %bs = "smem.alloc"() : () -> !bs
    %pipeline = "smem.create_pipeline"()
      {{stages = {self.stages} : i32, producers = 1 : i32, consumers = 1 : i32}} : () -> !pipeline
    "smem.warp_specialize"() ({{
      "smem.partition"() ({{
        "smem.elect"() ({{
          scf.for %t = %c0 to %tiles step %c1 {{
            %tile = arith.addi %first_tile, %t : index
            %column = arith.muli %tile, %columns : index
            %own = arith.addi %column, %half : index
            %first = arith.muli %t, %steps : index
            scf.for %i = %c0 to %steps step %c1 {{
              %step = arith.addi %first, %i : index
              %at = arith.muli %i, %depth : index
              %slot = "smem.producer_acquire"(%pipeline, %step) : (!pipeline, index) -> index
              %a = "smem.stage"(%as, %slot) : (!as, index) -> !a
              %b = "smem.stage"(%bs, %slot) : (!bs, index) -> !b
              "smem.tma_load"(%A, %a, %pipeline, %step, %row, %at)
                : (!A, !a, !pipeline, index, index, index) -> ()
              "smem.tma_load"(%B, %b, %pipeline, %step, %at, %own)
                : (!B, !b, !pipeline, index, index, index) -> ()
              "smem.producer_commit"(%pipeline, %step) : (!pipeline, index) -> ()
            }}
          }}
        }}) {{scope = "cta"}} : () -> ()
      }}) {{warpgroups = 1 : i32}} : () -> ()
      "smem.partition"() ({{
        scf.for %t = %c0 to %tiles step %c1 {{
          %tile = arith.addi %first_tile, %t : index
          %column = arith.muli %tile, %columns : index
          %first = arith.muli %t, %steps : index
          %slot0 = "smem.consumer_wait"(%pipeline, %first) : (!pipeline, index) -> index
          %a0 = "smem.stage"(%as, %slot0) : (!as, index) -> !a
          %b0 = "smem.stage"(%bs, %slot0) : (!bs, index) -> !b
          %d0 = "smem.mma"(%a0, %b0) {{pair}} : (!a, !b) -> !running
          %sum = scf.for %i = %c1 to %steps step %c1 iter_args(%acc = %d0) -> (!running) {{
            %step = arith.addi %first, %i : index
            %slot = "smem.consumer_wait"(%pipeline, %step) : (!pipeline, index) -> index
            %a = "smem.stage"(%as, %slot) : (!as, index) -> !a
            %b = "smem.stage"(%bs, %slot) : (!bs, index) -> !b
            %d = "smem.mma"(%a, %b, %acc) {{pair}} : (!a, !b, !running) -> !running
            %next = "smem.wait"(%d) {{pending = 1 : i32}} : (!running) -> !running
            %before = arith.subi %step, %c1 : index
            "smem.consumer_release"(%pipeline, %before) : (!pipeline, index) -> ()
            scf.yield %next : !running
          }}
          %done = "smem.wait"(%sum) {{pending = 0 : i32}} : (!running) -> !readable
          %end = arith.addi %first, %steps : index
          %last = arith.subi %end, %c1 : index
          "smem.consumer_release"(%pipeline, %last) : (!pipeline, index) -> ()
          %d_tile = memref.subview %D[%row, %column] [{ROWS}, {columns}] [1, 1] : !D to !tile
          "smem.store"(%done, %d_tile) : (!readable, !tile) -> ()
        }}
      }}) {{warpgroups = 1 : i32}} : () -> ()
    }}) : () -> ()
    gpu.return
  }}
}}
"""

    def inputs(self, pairs: tuple[int, int], steps: int) -> dict[str, np.ndarray]:
        """Return A and B for pairs along M and N, and K blocks: numbers whose sums are exact."""
        m, n, k = 2 * ROWS * pairs[0], 2 * self.n * self.tiles * pairs[1], DEPTH * steps
        random = np.random.default_rng(m + n + k)
        a, b = (random.integers(-3, 4, s).astype(ml_dtypes.bfloat16) for s in ((m, k), (k, n)))
        return {"A": a, "B": np.asarray(b, order="C" if self.major == "n" else "F")}


CASES = [
    PairGemm(),
    PairGemm(n=32, tiles=3, stages=2, major="k"),
    PairGemm(n=96, stages=4),
]
