// sm_90a ptx
!t = !smem.tile<tensor<64x64xf16>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @host(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx,%by,%bz) in (%gx=%c1,%gy=%c1,%gz=%c1) threads(%tx,%ty,%tz) in (%sx=%c128,%sy=%c1,%sz=%c1) {
    %a = "smem.alloc"() : () -> !t
    %b = "smem.alloc"() : () -> !t
    "smem.copy"(%A, %a) : (memref<64x64xf16>, !t) -> ()
    "smem.copy"(%B, %b) : (memref<64x64xf16>, !t) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) : (!t, !t) -> !f
    %w = "smem.wait"(%d) {pending = 0 : i32} : (!f) -> !r
    "smem.store"(%w, %C) : (!r, memref<64x64xf32>) -> ()
    gpu.terminator
  }
  return
}
