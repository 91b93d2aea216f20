// pass: smem-to-nvvm
func.func @f(%m: memref<64x64xbf16>, %t: !smem.tile<tensor<64x64xbf16>, #smem.auto>, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>, !smem.pipeline, index, index, index) -> ()
  return
}
