// An smem.mma_desc that was materialized for another architecture.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-mma

!d = !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
func.func @n_major_bytes(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has b_major = 'mn', but wgmma reads e4m3 K-major only}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
func.func @narrow(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op multiplies e4m3 by e2m3_p32, which wgmma does not; tcgen05 (sm_100, sm_103) does}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "e4m3", b_element = "e2m3_p32", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}
