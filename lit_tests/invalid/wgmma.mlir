// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @readable_result(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op results in !smem.fragment<tensor<64x8xf32>, #smem.accumulator>; expected a fragment in flight}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
  return
}

// -----

func.func @fragment(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op has an accumulator of [64, 4]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x4xf32>, #smem.in_flight>
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
func.func @accumulator_shape(%d: i64, %c: !c) {
  // expected-error@+1 {{'smem.wgmma' op adds to tensor<64x16xf32>; expected tensor<64x8xf32>}}
  %0 = "smem.wgmma"(%d, %d, %c) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !c) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  return
}

// -----

// The attributes say how each instruction is issued.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @element(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op multiplies 'bf17' by 'bf17' into f32, which is no wgmma}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf17", b_element = "bf17", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @major(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op has b_major = 'n'; expected k or mn}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "n", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_array(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op has a_steps = 0 : i64; expected array<i64: ...> with as many steps along k for each of 1 instruction blocks}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = 0, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

// 128 rows are two instructions.

!d = !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
func.func @too_few_steps(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op has a_steps = array<i64: 0>; expected array<i64: ...> with as many steps along k for each of 2 instruction blocks}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_steps(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op has b_steps = array<i64>; expected array<i64: ...> with as many steps along k for each of 1 instruction blocks}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @k_differs(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op has steps for 1 and 2 blocks along k}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

// Several descriptors of one operand: a vector, and for each block one of its elements.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @bases_of_one_descriptor(%d: i64) {
  // expected-error@+1 {{'smem.wgmma' op has b_bases, but b is i64; expected vector<nxi64>}}
  %0 = "smem.wgmma"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, b_bases = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_bases(%d: i64, %v: vector<2xi64>) {
  // expected-error@+1 {{'smem.wgmma' op has a_bases = None for a of vector<2xi64>; expected vector<nxi64>, and in an array<i64: ...> for each of 2 blocks one of its elements, each at least once}}
  %0 = "smem.wgmma"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>} : (vector<2xi64>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @beyond_the_vector(%d: i64, %v: vector<2xi64>) {
  // expected-error@+1 {{'smem.wgmma' op has a_bases = array<i64: 0, 2> for a of vector<2xi64>}}
  %0 = "smem.wgmma"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>, a_bases = array<i64: 0, 2>} : (vector<2xi64>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @too_few_bases(%d: i64, %v: vector<1xi64>) {
  // expected-error@+1 {{'smem.wgmma' op has a_bases = array<i64: 0> for a of vector<1xi64>}}
  %0 = "smem.wgmma"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>, a_bases = array<i64: 0>} : (vector<1xi64>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_descriptors(%d: i64, %v: vector<2xi32>) {
  // expected-error@+1 {{'smem.wgmma' op has a_bases = array<i64: 0, 1> for a of vector<2xi32>}}
  %0 = "smem.wgmma"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>, a_bases = array<i64: 0, 1>} : (vector<2xi32>, i64) -> !d
  return
}
