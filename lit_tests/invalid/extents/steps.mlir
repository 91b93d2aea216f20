// Steps are within the address range of descriptors.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @far(%a: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has a_steps = [16384]; expected units of 16 bytes, less than 16384}}
  %0 = "smem.mma_desc"(%a, %a) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 16384>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @back(%a: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has b_steps = [-9223372036854775808]; expected units of 16 bytes, less than 16384}}
  %0 = "smem.mma_desc"(%a, %a) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: -9223372036854775808>} : (i64, i64) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @second_chunk(%a: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks = [-1, 9223372036854775807]; expected units of 16 bytes, less than 16384}}
  %0 = "smem.mma_desc_scaled"(%a, %a, %a, %a) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3>, a_second_chunks = array<i64: -1, 9223372036854775807>, b_steps = array<i64: 0, 3>, b_second_chunks = array<i64: -1, 64>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64>, b_scale_steps = array<i64: 0, 32, 64>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @factors(%a: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_scale_steps = [0, 32, 65536]; expected units of 16 bytes, less than 16384}}
  %0 = "smem.mma_desc_scaled"(%a, %a, %a, %a) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3>, a_second_chunks = array<i64: -1, -1>, b_steps = array<i64: 0, 3>, b_second_chunks = array<i64: -1, 64>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 65536>, b_scale_steps = array<i64: 0, 32, 64>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}
