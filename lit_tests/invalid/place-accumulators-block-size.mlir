// A thread block size that no GPU has.

// RUN: smem-opt %s --smem-place-accumulators --verify-diagnostics

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<32x64xbf16>, #smem.auto>
// expected-error@+1 {{'func.func' op has thread blocks of -2147483648 x 1 x 1 threads; expected 1 to 1024 threads}}
func.func @negative(%a: !a, %b: !b) attributes {known_block_size = array<i32: -2147483648, 1, 1>} {
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
