// RUN: smem-opt %s --verify-diagnostics --smem-lower-mma

// Descriptors for instructions of 128 rows, which wgmma does not have.
func.func @rows(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{has 1 a_steps; expected 2 for instructions of 64 rows: smem-materialize-descriptors was run for another architecture}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
  return
}
