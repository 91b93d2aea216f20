// No instruction has that N.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-mma=arch=sm_100a

!d = !smem.fragment<tensor<64x24xf32>, #smem.in_flight>
func.func @n(%d: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 32 : i32, first = 0 : i32, offset = 0 : i64, depth = 1 : i32, warpgroups = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.mma_desc' op is not an instruction: N is 24; kind::f8f6f4 with e4m3 N-major, cta_group::1 has multiples of 16 up to 256, for example 16 or 32}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}
