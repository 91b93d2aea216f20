// RUN: smem-opt %s --split-input-file --verify-diagnostics

!a = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @a_stages(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op takes A (rows, columns), not [4, 64, 64]; take a stage}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @b_stages(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op takes B (rows, columns), not [4, 64, 64]; take a stage}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xf16>, #smem.auto>
func.func @two_elements(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op multiplies bf16 by f16; expected both f16 or both bf16}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
func.func @element(%t: !t) {
  // expected-error@+1 {{'smem.mma' op multiplies e4m3 by e4m3; expected both f16 or both bf16}}
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
func.func @k_differs(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op multiplies A of 64x32 by B of 64x128: K differs, 32 and 64}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x24xbf16>, #smem.auto>
!b = !smem.tile<tensor<24x64xbf16>, #smem.auto>
func.func @k(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has K = 24; expected a multiple of 16 for bf16}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<96x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @m(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has M = 96; expected a multiple of 64}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<96x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x20xbf16>, #smem.auto>
func.func @n(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has N = 20; expected a multiple of 8, for example 16 or 24}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x20xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @readable_result(%t: !t) {
  // expected-error@+1 {{'smem.mma' op results in !smem.fragment<tensor<64x64xf32>, #smem.accumulator>; expected !smem.fragment<tensor<64x64xf32>, #smem.in_flight>}}
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @result_shape(%t: !t) {
  // expected-error@+1 {{'smem.mma' op results in !smem.fragment<tensor<64x128xf32>, #smem.in_flight>; expected !smem.fragment<tensor<64x64xf32>, #smem.in_flight>}}
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @result_element(%t: !t) {
  // expected-error@+1 {{'smem.mma' op has an accumulator of f16; expected f32}}
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x64xf16>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
func.func @accumulator_shape(%t: !t, %c: !c) {
  // expected-error@+1 {{'smem.mma' op adds to a fragment of [128, 64]; expected [64, 64]}}
  %0 = "smem.mma"(%t, %t, %c) : (!t, !t, !c) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf16>, #smem.accumulator>
func.func @accumulator_element(%t: !t, %c: !c) {
  // expected-error@+1 {{'smem.mma' op has an accumulator of f16; expected f32}}
  %0 = "smem.mma"(%t, %t, %c) : (!t, !t, !c) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Registers that a wgmma may still be writing cannot be copied, so that there is one user of them.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @used_twice(%t: !t, %c: !d) {
  // expected-error@+1 {{'smem.mma' op uses an accumulator in flight that has 2 uses; its registers cannot be copied before an smem.wait}}
  %0 = "smem.mma"(%t, %t, %c) : (!t, !t, !d) -> !d
  %1 = "smem.mma"(%t, %t, %c) : (!t, !t, !d) -> !d
  return
}

// -----

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x0xbf16>, #smem.auto>
func.func @no_columns(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has N = 0; expected a multiple of 8}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x0xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<0x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_rows(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<0x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x0xbf16>, #smem.auto>
!b = !smem.tile<tensor<0x64xbf16>, #smem.auto>
func.func @no_k(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
