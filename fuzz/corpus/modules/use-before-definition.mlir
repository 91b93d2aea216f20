// pass: smem-lower-mma{arch=sm_100}
func.func @f(%a: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = "smem.mma_desc"(%a, %a) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  %1 = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  return
}
