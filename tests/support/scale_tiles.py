"""Kernels that copy scale factors to a tile, or to a subtile, and return its bytes."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

import mlir_smem
from mlir_smem.layout import TileLayout, element
from mlir_smem.layout.tcgen05 import blocked, scale_layout

_NAMES = {"f8E8M0FNU": "ue8m0", "f8E4M3FN": "e4m3"}
DTYPES = {
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "i8": np.int8,
}


@dataclass(frozen=True)
class ScaleCopy:
    """A kernel that copies scale factors from global memory, which has 640 rows of 32, to a subtile.

    Attributes:
        shape: (rows, factors) that are copied.
        start: the first (row, factor) in global memory.
        into: the first (row, factor) in the tile's stage.
        whole: (rows, factors) of a stage.
        tile_element: MLIR type of the tile's elements.
        memory_element: MLIR type of the memref's elements.
        stage: the stage, of 3, a run-time value in the kernel.
        how: "copy", "copy_async" or "tma_load".
        threads: the number of threads of the CTA.
    """

    shape: tuple[int, int]
    start: tuple[int, int] = (0, 0)
    into: tuple[int, int] = (0, 0)
    whole: tuple[int, int] = (256, 16)
    tile_element: str = "f8E8M0FNU"
    memory_element: str = "f8E8M0FNU"
    stage: int = 1
    how: str = "copy"
    threads: int = 128

    def __str__(self) -> str:
        places = ["{}x{}".format(*extents) for extents in (self.shape, self.start, self.into)]
        how = [self.how, f"stage{self.stage}", f"t{self.threads}"]
        return "-".join([*places, self.memory_element, self.tile_element, *how])

    @property
    def layout(self) -> TileLayout:
        """The layout of the tile, with all stages."""
        return scale_layout(element(_NAMES[self.tile_element]), *self.whole, stages=3)

    @property
    def text(self) -> str:
        """The kernel."""
        rows, factors = self.shape
        size = self.layout.size_bytes
        offsets = f"[{self.start[0] // 128}, {self.start[1] // 4}, 0, 0, 0]"
        extents = f"{rows // 128}x{factors // 4}x32x4x4"
        strides = "strided<[4096, 512, 16, 4, 1], offset: "
        offset = (self.start[0] // 128 * 8 + self.start[1] // 4) * 512
        return f"""
!A = memref<5x8x32x4x4x{self.memory_element}>
!source = memref<{extents}x{self.memory_element}, {strides}{offset}>>
!bytes = memref<{size}xi8, #gpu.address_space<workgroup>>
!tile = !smem.tile<tensor<3x{self.whole[0]}x{self.whole[1]}x{self.tile_element}>,
  #smem.layout<"{self.layout}">>
!stage = !smem.tile<tensor<{self.whole[0]}x{self.whole[1]}x{self.tile_element}>, #smem.auto>
!subtile = !smem.tile<tensor<{rows}x{factors}x{self.tile_element}>, #smem.auto>
gpu.module @kernels {{
  gpu.func @fill(%A: !A {{smem.name = "A"}}, %D: memref<{size}xi8> {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: {self.threads}, 1, 1>}} {{
    %thread = gpu.thread_id x
    %threads = gpu.block_dim x
    %zero_cta = gpu.block_id y
    %stage_number = arith.constant {self.stage} : index
    %n = arith.addi %zero_cta, %stage_number : index
    %zero = arith.constant 0 : index
    %size = arith.constant {size} : index
    %none = arith.constant 0 : i8
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %bytes = memref.view %all[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to !bytes
    scf.for %i = %thread to %size step %threads {{
      memref.store %none, %bytes[%i] : !bytes
    }}
    gpu.barrier
    %tile = "smem.view"(%bytes) : (!bytes) -> !tile
    %source = memref.subview %A{offsets} [{extents.replace("x", ", ")}] [1, 1, 1, 1, 1] : !A to !source
    {self._load() if self.how == "tma_load" else self._copy()}
    gpu.barrier
    scf.for %i = %thread to %size step %threads {{
      %byte = memref.load %bytes[%i] : !bytes
      memref.store %byte, %D[%i] : memref<{size}xi8>
    }}
    gpu.return
  }}
}}
"""

    def _subtile(self, stage: str) -> str:
        return f"""%stage = "smem.stage"(%tile, {stage}) : (!tile, index) -> !stage
    %subtile = "smem.subtile"(%stage) {{static_offsets = array<i64: {self.into[0]}, {self.into[1]}>}}
      : (!stage) -> !subtile"""

    def _copy(self) -> str:
        wait = """
    "smem.copy_commit"() : () -> ()
    "smem.copy_wait"() {pending = 0 : i32} : () -> ()"""
        return f"""{self._subtile("%n")}
    "smem.{self.how}"(%source, %subtile) : (!source, !subtile) -> (){wait * (self.how == "copy_async")}"""

    def _load(self) -> str:
        consumers = self.threads // 128
        return f"""%row = arith.constant {self.start[0]} : index
    %factor = arith.constant {self.start[1]} : index
    %pipeline = "smem.create_pipeline"()
      {{stages = 3 : i32, producers = 1 : i32, consumers = {consumers} : i32}} : () -> !smem.pipeline
    "smem.fence"() : () -> ()
    gpu.barrier
    "smem.elect"() ({{
      %slot = "smem.producer_acquire"(%pipeline, %n) : (!smem.pipeline, index) -> index
      {self._subtile("%slot")}
      "smem.tma_load"(%A, %subtile, %pipeline, %n, %row, %factor) {{cache = "evict_last"}}
        : (!A, !subtile, !smem.pipeline, index, index, index) -> ()
      "smem.producer_commit"(%pipeline, %n) : (!smem.pipeline, index) -> ()
    }}) {{scope = "cta"}} : () -> ()
    %full = "smem.consumer_wait"(%pipeline, %n) : (!smem.pipeline, index) -> index"""

    def inputs(self) -> dict[str, np.ndarray]:
        """A, the scale factors in the order of `blocked`, as a host program stores them."""
        return {"A": blocked(self._factors().view(DTYPES[self.memory_element]))}

    def expected_bytes(self) -> np.ndarray:
        """The expected bytes of the tile; 0 where nothing is copied."""
        tile_bytes = np.zeros(self.layout.size_bytes, np.uint8)
        row, factor = (np.arange(n) + start for n, start in zip(self.shape, self.into, strict=True))
        offsets = self.layout.offsets_at(np.array(self.stage), row[:, None], factor[None, :])
        (row, factor), (rows, factors) = self.start, self.shape
        tile_bytes[offsets] = self._factors()[row : row + rows, factor : factor + factors]
        return tile_bytes

    def _factors(self) -> np.ndarray:
        return np.random.default_rng(7).integers(1, 255, (640, 32), dtype=np.uint8)

    def compile(self, **options):
        """The compiled kernel; it reserves the tile's memory, which it addresses itself."""
        return mlir_smem.compile(self.text, reserved_bytes=self.layout.size_bytes, **options)

    def check(self, result: np.ndarray) -> None:
        """Check the bytes that were read back."""
        wrong = np.flatnonzero(result.view(np.uint8) != self.expected_bytes())
        assert wrong.size == 0, f"{self}: {wrong.size} bytes are wrong, the first at {wrong[0]}"


CASES = [
    ScaleCopy((256, 16)),
    ScaleCopy((128, 4), start=(384, 20), into=(128, 8), stage=2),
    ScaleCopy((256, 8), start=(128, 4), into=(0, 4), how="copy_async"),
    ScaleCopy(
        (128, 16), start=(512, 12), tile_element="f8E4M3FN", memory_element="f8E4M3FN", threads=256
    ),
    ScaleCopy((384, 12), start=(128, 8), whole=(384, 12), memory_element="i8"),
    ScaleCopy((512, 16), start=(0, 16), whole=(512, 16), stage=0),
    ScaleCopy((256, 16), start=(384, 12), how="tma_load"),
    ScaleCopy(
        (128, 8), start=(512, 20), into=(128, 8), stage=2, memory_element="i8", how="tma_load"
    ),
    ScaleCopy(
        (256, 4), into=(0, 12), tile_element="f8E4M3FN", memory_element="f8E4M3FN", how="tma_load"
    ),
]
