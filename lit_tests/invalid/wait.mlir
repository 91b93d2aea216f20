// RUN: smem-opt %s --split-input-file --verify-diagnostics

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @negative(%d: !d) {
  // expected-error@+1 {{'smem.wait' op has pending = -1; expected 0 or more mma}}
  %0 = "smem.wait"(%d) {pending = -1 : i32} : (!d) -> !d
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @readable(%c: !c) {
  // expected-error@+1 {{'smem.wait' op waits for !smem.fragment<tensor<64x64xf32>, #smem.accumulator>, which is not in flight}}
  %0 = "smem.wait"(%c) {pending = 0 : i32} : (!c) -> !c
  return
}

// -----

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @other_shape(%d: !d) {
  // expected-error@+1 {{'smem.wait' op results in tensor<64x32xf32> of tensor<64x64xf32>}}
  %0 = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
  return
}

// -----

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @used_twice(%d: !d) {
  // expected-error@+1 {{'smem.wait' op uses an accumulator in flight that has 2 uses; its registers cannot be copied before an smem.wait}}
  %0 = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !d
  %1 = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !d
  return
}

// -----

// No mma follows the one that is waited for, so it may be the pending one.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @may_still_run(%t: !t) {
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !d
  // expected-error@+1 {{'smem.wait' op has pending = 1, but only 0 mma are known to follow the one that it waits for, which may thus still run; expected pending = 0 or less, or a result that stays in flight}}
  %1 = "smem.wait"(%0) {pending = 1 : i32} : (!d) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

// The mma of a loop-carried accumulator is not known.

!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @carried(%d: !d) {
  // expected-error@+1 {{'smem.wait' op has pending = 1, but only 0 mma are known to follow}}
  %0 = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

// An mma in another basic block might not run.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @conditional(%t: !t, %b: i1) {
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !d
  scf.if %b {
    %1 = "smem.mma"(%t, %t) : (!t, !t) -> !d
  }
  // expected-error@+1 {{'smem.wait' op has pending = 1, but only 0 mma are known to follow}}
  %2 = "smem.wait"(%0) {pending = 1 : i32} : (!d) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

// A wait does not change the fragment.

!d = !smem.fragment<tensor<64x64xf16>, #smem.in_flight>
func.func @multiplicand(%d: !d) {
  // expected-error@+1 {{'smem.wait' op results in !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>; expected #smem.accumulator or #smem.in_flight}}
  %0 = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
  return
}

// -----

!a = !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
func.func @waits_for_a_multiplicand(%a: !a) {
  // expected-error@+1 {{'smem.wait' op waits for !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>, which is not in flight}}
  %0 = "smem.wait"(%a) {pending = 0 : i32} : (!a) -> !a
  return
}

// -----

// An mma on descriptors counts like one on tiles.

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
func.func @descriptors(%a: i64) {
  %0 = "smem.mma_desc"(%a, %a) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  %1 = "smem.mma_desc"(%a, %a) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  // expected-error@+1 {{'smem.wait' op has pending = 2, but only 1 mma are known to follow the one that it waits for, which may thus still run; expected pending = 1 or less, or a result that stays in flight}}
  %2 = "smem.wait"(%0) {pending = 2 : i32} : (!d) -> !c
  return
}
