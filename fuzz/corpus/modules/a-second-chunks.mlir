// pass: smem-place-accumulators
// pass: smem-lower-mma{arch=sm_103}
func.func @f(%a: i64, %b: i64, %sa: i64, %sb: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3>, a_second_chunks = array<i64: 9223372036854775807, -1>, b_steps = array<i64: 0, 3>, b_second_chunks = array<i64: -1, 64>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64>, b_scale_steps = array<i64: 0, 32, 64>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}
