// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @readable_result(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op results in !smem.fragment<tensor<64x8xf32>, #smem.accumulator>; expected a fragment in flight}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
  return
}

// -----

func.func @fragment(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has an accumulator of [64, 4]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x4xf32>, #smem.in_flight>
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
func.func @accumulator_shape(%d: i64, %c: !c) {
  // expected-error@+1 {{'smem.mma_desc' op adds to tensor<64x16xf32>; expected tensor<64x8xf32>}}
  %0 = "smem.mma_desc"(%d, %d, %c) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !c) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  return
}

// -----

// The attributes describe the instructions.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @element(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op multiplies 'bf17' by 'bf17' into f32, which no instruction does}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf17", b_element = "bf17", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @major(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has b_major = 'n'; expected k or mn}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "n", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_array(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has a_steps = 0 : i64; expected array<i64: ...> with the same number of steps along k for each of 1 MMA tiles}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = 0, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

// 192 rows are three instructions.

!d = !smem.fragment<tensor<192x8xf32>, #smem.in_flight>
func.func @too_few_steps(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has a_steps = array<i64: 0>; expected array<i64: ...> with the same number of steps along k for each of 3 MMA tiles}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_steps(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has b_steps = array<i64>; expected array<i64: ...> with the same number of steps along k for each of 1 MMA tiles}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @k_differs(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has steps for 2 and 1 blocks along k}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

// Several descriptors of an operand: a vector, and for each MMA tile an index into it.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @bases_of_one_descriptor(%d: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has b_bases, but b is i64; expected vector<nxi64>}}
  %0 = "smem.mma_desc"(%d, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, b_bases = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_bases(%d: i64, %v: vector<2xi64>) {
  // expected-error@+1 {{'smem.mma_desc' op has a_bases = None for a of vector<2xi64>; expected vector<nxi64>, and array<i64: ...> with an index into it for each of 2 MMA tiles, every index used}}
  %0 = "smem.mma_desc"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>} : (vector<2xi64>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @beyond_the_vector(%d: i64, %v: vector<2xi64>) {
  // expected-error@+1 {{'smem.mma_desc' op has a_bases = array<i64: 0, 2> for a of vector<2xi64>}}
  %0 = "smem.mma_desc"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>, a_bases = array<i64: 0, 2>} : (vector<2xi64>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @too_few_bases(%d: i64, %v: vector<1xi64>) {
  // expected-error@+1 {{'smem.mma_desc' op has a_bases = array<i64: 0> for a of vector<1xi64>}}
  %0 = "smem.mma_desc"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>, a_bases = array<i64: 0>} : (vector<1xi64>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_descriptors(%d: i64, %v: vector<2xi32>) {
  // expected-error@+1 {{'smem.mma_desc' op has a_bases = array<i64: 0, 1> for a of vector<2xi32>}}
  %0 = "smem.mma_desc"(%v, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0>, b_steps = array<i64: 0, 2>, a_bases = array<i64: 0, 1>} : (vector<2xi32>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @accumulator_state(%a: i64, %b: i64, %c: !smem.fragment<tensor<64x8xf32>, #smem.a_fragment>) {
  // expected-error@+1 {{'smem.mma_desc' op adds to !smem.fragment<tensor<64x8xf32>, #smem.a_fragment>, which is not an accumulator}}
  %0 = "smem.mma_desc"(%a, %b, %c) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !smem.fragment<tensor<64x8xf32>, #smem.a_fragment>) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @used_twice(%a: i64, %c: !d) {
  // expected-error@+1 {{'smem.mma_desc' op uses an accumulator in flight that has 2 uses; its registers cannot be copied before an smem.wait}}
  %0 = "smem.mma_desc"(%a, %a, %c) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !d) -> !d
  %1 = "smem.wait"(%c) {pending = 0 : i32} : (!d) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @satfinite(%a: i64, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has satfinite with bf16; it is for mma of s8 and u8}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, satfinite} : (i64, i64) -> !d
  return
}

// -----

// Element types that no instruction reads MN-major.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @mn_major(%a: i64, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has b_major = 'mn', but e2m3_p32 is read K-major only; expected k}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "e4m3", b_element = "e2m3_p32", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

// A in registers.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_is_no_multiplicand(%a: !smem.fragment<tensor<64x16xf32>, #smem.accumulator>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op reads A from !smem.fragment<tensor<64x16xf32>, #smem.accumulator>; expected 64 rows of bf16 as #smem.a_fragment}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!smem.fragment<tensor<64x16xf32>, #smem.accumulator>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_element(%a: !smem.fragment<tensor<64x16xf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op reads A from !smem.fragment<tensor<64x16xf16>, #smem.a_fragment>; expected 64 rows of bf16 as #smem.a_fragment}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!smem.fragment<tensor<64x16xf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_rows(%a: !smem.fragment<tensor<128x16xbf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op reads A from !smem.fragment<tensor<128x16xbf16>, #smem.a_fragment>; expected 64 rows of bf16 as #smem.a_fragment}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!smem.fragment<tensor<128x16xbf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_of_one_dimension(%a: !smem.fragment<tensor<64xbf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has an A fragment of [64]; expected (M, K) with M a multiple of 64 and K of 16 for bf16}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!smem.fragment<tensor<64xbf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_k(%a: !smem.fragment<tensor<64x24xbf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has an A fragment of [64, 24]; expected (M, K) with M a multiple of 64 and K of 16 for bf16}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!smem.fragment<tensor<64x24xbf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_steps_of_registers(%a: !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has a_major = 'k' and a_steps = array<i64: 0> for an A in registers; expected 'k' and array<i64>}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (!smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_major_of_registers(%a: !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has a_major = 'mn' and a_steps = array<i64> for an A in registers; expected 'k' and array<i64>}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "mn", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @a_bases_of_registers(%a: !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has a_bases, but a is !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>; expected vector<nxi64>}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>, a_bases = array<i64: 0>} : (!smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @k_of_registers(%a: !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has steps for 1 and 2 blocks along k}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0, 2>} : (!smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>, i64) -> !d
  return
}

// -----

// Sparse.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @no_metadata(%a: i64, %b: i64) {
  // expected-error@+1 {{op expects at least 3 operands, but got 2}}
  %0 = "smem.mma_desc_sp"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @accumulator_for_metadata(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x32xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.mma_desc_sp' op has !smem.fragment<tensor<64x32xf32>, #smem.accumulator>; expected the metadata of 64x32xbf16}}
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !smem.fragment<tensor<64x32xf32>, #smem.accumulator>) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @metadata_shape(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x64xbf16>, #smem.metadata>) {
  // expected-error@+1 {{'smem.mma_desc_sp' op has !smem.fragment<tensor<64x64xbf16>, #smem.metadata>; expected the metadata of 64x32xbf16}}
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @metadata_element(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x64xbf16>, #smem.metadata>) {
  // expected-error@+1 {{'smem.mma_desc_sp' op has !smem.fragment<tensor<64x64xbf16>, #smem.metadata>; expected the metadata of 64x64xe4m3}}
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>) -> !d
  return
}

// -----

func.func @sparse_bits(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x32xbf16>, #smem.metadata>) {
  // expected-error@+1 {{'smem.mma_desc_sp' op multiplies sparse b1, which wgmma cannot; smem.mma multiplies it dense}}
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "b1", b_element = "b1", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !smem.fragment<tensor<64x32xbf16>, #smem.metadata>) -> !smem.fragment<tensor<64x8xi32>, #smem.in_flight>
  return
}

// -----

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
func.func @k_of_sparse(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x32xbf16>, #smem.metadata>) {
  // expected-error@+1 {{'smem.mma_desc_sp' op has steps for 1 and 2 blocks along k}}
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0, 2>} : (i64, i64, !smem.fragment<tensor<64x32xbf16>, #smem.metadata>) -> !d
  return
}
