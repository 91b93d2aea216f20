// pass: smem-to-nvvm{arch=sm_100}
!t = !smem.tile<tensor<65536x65536xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<65536x65536xbf16>
!c = !smem.fragment<tensor<65536x65536xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<65536x65536xf32>, #smem.in_flight>
func.func @stored_without_fence(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}
