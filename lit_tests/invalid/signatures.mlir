// A tile or a pipeline cannot be passed to a function: their types have no lowering.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-to-nvvm

// expected-error@+1 {{'func.func' op takes or returns !smem.tile<tensor<64x64xbf16>, #smem.auto>; a kernel makes its tiles and pipelines itself (smem.alloc, smem.view, smem.create_pipeline)}}
func.func @taken(%t: !smem.tile<tensor<64x64xbf16>, #smem.auto>) { return }

// -----

// expected-error@+1 {{'func.func' op takes or returns !smem.pipeline; a kernel makes its tiles and pipelines itself (smem.alloc, smem.view, smem.create_pipeline)}}
func.func @taken(%r: !smem.pipeline) { return }

// -----

// expected-error@+1 {{'func.func' op takes or returns !smem.tile<tensor<64x64xbf16>, #smem.auto>}}
func.func private @declared(!smem.tile<tensor<64x64xbf16>, #smem.auto>)

// -----

gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op takes or returns !smem.tile<tensor<64x64xbf16>, #smem.auto>}}
  gpu.func @kernel(%t: !smem.tile<tensor<64x64xbf16>, #smem.auto>) kernel { gpu.return }
}

// -----

func.func @used(%m: memref<64x64xbf16>, %t: !smem.tile<tensor<64x64xbf16>, #smem.auto>, %i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op uses a tile that is not a stage or subtile of an smem.alloc or smem.view}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

// A fragment of a type that no registers hold.
// expected-error@+1 {{'func.func' op has an accumulator of [63, 64]; expected (M, N) with M a multiple of 64 and N of 8}}
func.func @fragment(%f: !smem.fragment<tensor<63x64xf32>, #smem.accumulator>) { return }
