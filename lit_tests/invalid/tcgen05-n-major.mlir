// For 8-bit types that are N-major, tcgen05 needs N to be a multiple of 16.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-assign-layouts=arch=sm_100a

!a = !smem.tile<tensor<64x32xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<32x24xf8E4M3FN>, #smem.auto>
func.func @n_by_8(%n: memref<32x32xf8E4M3FN>, %a: !a) {
  // expected-error@+1 {{N is 24; kind::f8f6f4 with cta_group::1 takes N of 16 to 256 by 16, or several of them, of e4m3 that is N-major}}
  %b = "smem.alloc"() : () -> !smem.tile<tensor<32x32xf8E4M3FN>, #smem.auto>
  "smem.copy"(%n, %b) : (memref<32x32xf8E4M3FN>, !smem.tile<tensor<32x32xf8E4M3FN>, #smem.auto>) -> ()
  %p = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!smem.tile<tensor<32x32xf8E4M3FN>, #smem.auto>) -> !b
  %d = "smem.mma"(%a, %p) : (!a, !b) -> !smem.fragment<tensor<64x24xf32>, #smem.in_flight>
  return
}
