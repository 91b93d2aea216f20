// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @readable(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op results in !smem.fragment<tensor<128x64xf32>, #smem.accumulator>; expected a fragment of f32 in flight}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
  return
}

// -----

func.func @f16(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op results in !smem.fragment<tensor<128x64xf16>, #smem.in_flight>; expected a fragment of f32 in flight}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf16>, #smem.in_flight>
  return
}

// -----

func.func @adds(%a: i64, %b: i64, %sa: i64, %sb: i64, %c: !smem.fragment<tensor<128x32xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op adds to tensor<128x32xf32>; expected tensor<128x64xf32>}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb, %c) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64, !smem.fragment<tensor<128x32xf32>, #smem.accumulator>) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @metadata(%a: i64, %b: i64, %sa: i64, %sb: i64, %c: !smem.fragment<tensor<128x64xf32>, #smem.metadata>) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op adds to !smem.fragment<tensor<128x64xf32>, #smem.metadata>, which is not an accumulator}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb, %c) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64, !smem.fragment<tensor<128x64xf32>, #smem.metadata>) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @element(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op unknown element type 'bf17'; expected one of f16, bf16, tf32, e4m3, e5m2, s8, u8, b1, s32, e2m1, e2m1_p64, e2m3_p32, e3m2_p32, ue8m0}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "bf17", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @no_kind(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op multiplies bf16 by e4m3 with ue8m0 for 32 elements, which no instruction does}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "bf16", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @scale(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op multiplies e4m3 by e4m3 with ue9m0 for 32 elements, which no instruction does}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue9m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @block(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op multiplies e4m3 by e4m3 with ue8m0 for 16 elements, which no instruction does}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 16 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @block0(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op multiplies e4m3 by e4m3 with ue8m0 for 0 elements, which no instruction does}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 0 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @blockf(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{expected base attribute 'builtin.integer' but got 'builtin.float'}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32.0 : f32, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @major(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_major = 'n' of e4m3; expected k or mn}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "n", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @mn_packed(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has b_major = 'mn' of e2m1; expected k}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 2>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @noarray(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_steps = 0 : i64; expected array<i64: ...> with the same number of steps along k for each of 1 blocks of rows or columns}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = 0 : i64, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @i32array(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_steps = array<i32: 0, 2, 4, 6>; expected array<i64: ...> with the same number of steps along k for each of 1 blocks of rows or columns}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i32: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @nosteps(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has b_steps = array<i64>; expected array<i64: ...> with the same number of steps along k for each of 1 blocks of rows or columns}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @m(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has M = 64; expected a multiple of 128}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @n(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has an accumulator of [128, 20]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x20xf32>, #smem.in_flight>
  return
}

// -----

func.func @m2(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_scale_steps = array<i64: 0>; expected array<i64: ...> with the same number of steps along k for each of 2 blocks of rows or columns}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<256x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @steps_differ(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has steps for 2 and 4 blocks along k}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @scale_steps_differ(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has scale_steps for 2 and 1 blocks along k}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0, 32>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @steps3(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has 3 steps along k for K = 128; expected 4 (of 32)}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4>, b_steps = array<i64: 0, 2, 4>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @long_no_seconds(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks = None; expected array<i64: ...> of 8}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>, b_steps = array<i64: 0, 3, 6, 513, 516, 519, 1026, 1029>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @short_seconds(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks = array<i64: 0, 0, 0, 0>; expected none, for 32 bytes along k}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>, a_second_chunks = array<i64: 0, 0, 0, 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @short_empty_seconds(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks = array<i64>; expected none, for 32 bytes along k}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>, a_second_chunks = array<i64>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @few_seconds(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks = array<i64: 0>; expected array<i64: ...> of 8}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>, b_steps = array<i64: 0, 3, 6, 513, 516, 519, 1026, 1029>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, a_second_chunks = array<i64: 0>, b_second_chunks = array<i64: -1, -1, 512, -1, -1, 1024, -1, -1>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @seconds_type(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks = 3 : i64; expected array<i64: ...> of 8}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>, b_steps = array<i64: 0, 3, 6, 513, 516, 519, 1026, 1029>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, a_second_chunks = 3 : i64, b_second_chunks = array<i64: -1, -1, 512, -1, -1, 1024, -1, -1>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @seconds_neg(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks = array<i64: -1, -1, -7, -1, -1, 2048, -1, -1>; expected -1, or 0 and more 16-byte units}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>, b_steps = array<i64: 0, 3, 6, 513, 516, 519, 1026, 1029>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, a_second_chunks = array<i64: -1, -1, -7, -1, -1, 2048, -1, -1>, b_second_chunks = array<i64: -1, -1, 512, -1, -1, 1024, -1, -1>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @bases(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_bases, but a is i64; expected vector<nxi64>}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>, a_bases = array<i64: 0, 0, 0, 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @nobases(%a: vector<2xi64>, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_bases = None for a of vector<2xi64>; expected vector<nxi64>, and array<i64: ...> with an index into it for each of 4 MMA tiles, every index used}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (vector<2xi64>, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @long_vector(%a: vector<2xi64>, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has a_second_chunks, but a is vector<2xi64>; expected i64}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>, b_steps = array<i64: 0, 3, 6, 513, 516, 519, 1026, 1029>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, a_bases = array<i64: 0, 0, 0, 0, 1, 1, 1, 1>, a_second_chunks = array<i64: -1, -1, 1024, -1, -1, 2048, -1, -1>, b_second_chunks = array<i64: -1, -1, 512, -1, -1, 1024, -1, -1>} : (vector<2xi64>, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @vscale(%a: i64, %b: i64, %sa: vector<2xi64>, %sb: i64) {
  // expected-error@+1 {{expected 'i64' but got 'vector<2xi64>'}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, vector<2xi64>, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @missing_scale(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op attribute "scale" is expected but not provided}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @satfinite(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has satfinite, a modifier of integers or tf32; expected negate_a or negate_b}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>, satfinite} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @pair_small(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has B of 4 columns in each of two CTAs: N is 8; kind::mxf8f6f4 with cta_group::2 has multiples of 16 up to 256, for example 16}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>, pair} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
  return
}

// -----

func.func @pair_n(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has B of 132 columns in each of two CTAs: N is 264; kind::mxf8f6f4 with cta_group::2 has multiples of 16 up to 256, for example 256}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6, 8, 10, 12, 14>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0, 32, 64>, pair} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x264xf32>, #smem.in_flight>
  return
}

// -----

func.func @long_two_pieces(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // expected-error@+1 {{'smem.mma_desc_scaled' op has 8 steps along k for K = 768; expected 12 (of 64)}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>, b_steps = array<i64: 0, 3, 6, 513, 516, 519, 1026, 1029, 0, 3, 6, 513, 516, 519, 1026, 1029>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>, a_second_chunks = array<i64: -1, -1, 1024, -1, -1, 2048, -1, -1>, b_second_chunks = array<i64: -1, -1, 512, -1, -1, 1024, -1, -1, -1, -1, 512, -1, -1, 1024, -1, -1>} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x320xf32>, #smem.in_flight>
  return
}
