// pass: smem-assign-layouts{arch=sm_100}
// pass: smem-place-accumulators
func.func @f(%a: !smem.tile<tensor<64x32xbf16>, #smem.auto>, %b: !smem.tile<tensor<32x64xbf16>, #smem.auto>) attributes {known_block_size = array<i32: -2147483648, 1, 1>} {
  %0 = "smem.mma"(%a, %b) : (!smem.tile<tensor<64x32xbf16>, #smem.auto>, !smem.tile<tensor<32x64xbf16>, #smem.auto>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
