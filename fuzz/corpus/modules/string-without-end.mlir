// pass: smem-allocate
!m = memref<64x60xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @rows(%m: !m, %t: !t, %i: f16) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  "smem.tma_load{(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, f16, f16, f16) -> ()
  return
}
