// RUN: smem-opt %s --verify-diagnostics --smem-lower-mma=arch=sm_100

func.func @bare(%a: i64, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has no tensor memory; run smem-place-accumulators before}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  return
}
