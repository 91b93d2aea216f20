// unregistered
// pass: smem-check-async
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @no_fence_after_it(%m: !m) {
  %u = "smem.alloc"() : () -> !t
  %d = "1\8B"(%u, %u) : (!t, !t) -> !d
}
