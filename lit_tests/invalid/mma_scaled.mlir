// RUN: smem-opt %s --split-input-file --verify-diagnostics

!a = !smem.tile<tensor<2x128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @a_stages(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op takes A (rows, columns), not [2, 128, 128]; take a stage}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<2x128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @b_stages(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op takes B (rows, columns), not [2, 128, 64]; take a stage}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<2x128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @a_factor_stages(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op takes the factors of A (rows, columns), not [2, 128, 4]; take a stage}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<2x128x4xf8E8M0FNU>, #smem.auto>
func.func @b_factor_stages(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op takes the factors of B (rows, columns), not [2, 128, 4]; take a stage}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128xf8E8M0FNU>, #smem.auto>
func.func @rank_1(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op takes the factors of B (rows, columns), not [128]; take a stage}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<256x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @k_differs(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies A of 128x128 by B of 256x64: K differs, 128 and 256}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xbf16>, #smem.auto>
!b = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @no_kind(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies bf16 by bf16 with one factor for 32 elements of ue8m0; the kinds that scale blocks: mxf8f6f4 of e4m3, e5m2, e2m3_p32, e3m2_p32, e2m1_p64; mxf4 of e2m1; mxf4nvf4 of e2m1}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @mixed_packed(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e2m1 by e4m3 with one factor for 32 elements of ue8m0; the kinds that scale blocks: mxf8f6f4 of e4m3, e5m2, e2m3_p32, e3m2_p32, e2m1_p64; mxf4 of e2m1; mxf4nvf4 of e2m1}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf4E2M1FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E4M3FN>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E4M3FN>, #smem.auto>
func.func @packed_with_ue4m3_32(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e2m1 by e2m1 with one factor for 32 elements of e4m3; expected factors of ue8m0 for 32 elements or e4m3 for 16 elements or ue8m0 for 16 elements along K}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
func.func @vector_size(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with one factor for 16 elements of ue8m0; expected factors of ue8m0 for 32 elements along K}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x12xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x12xf8E8M0FNU>, #smem.auto>
func.func @no_whole_blocks(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with 12 factors for K = 128 of ue8m0; expected factors of ue8m0 for 32 elements along K}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E5M2>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E5M2>, #smem.auto>
func.func @factor_type(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with one factor for 32 elements of e5m2; expected factors of ue8m0 for 32 elements along K}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x0xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x0xf8E8M0FNU>, #smem.auto>
func.func @no_factors(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with 0 factors for K = 128 of ue8m0; expected factors of ue8m0 for 32 elements along K}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x0xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<0x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x0xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x0xf8E8M0FNU>, #smem.auto>
func.func @no_k(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with 0 factors for K = 0 of ue8m0; expected factors of ue8m0 for 32 elements along K}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x256xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x256xf8E8M0FNU>, #smem.auto>
func.func @more_factors_than_k(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with 256 factors for K = 128 of ue8m0; expected factors of ue8m0 for 32 elements along K}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x48xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<48x64xf4E2M1FN>, #smem.auto>
!sa = !smem.tile<tensor<128x3xf8E4M3FN>, #smem.auto>
!sb = !smem.tile<tensor<128x3xf8E4M3FN>, #smem.auto>
func.func @k(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has K = 48; expected a multiple of 64: 4 factors for 16 elements each}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x96xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<96x64xf4E2M1FN>, #smem.auto>
!sa = !smem.tile<tensor<128x3xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x3xf8E8M0FNU>, #smem.auto>
func.func @k32(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has K = 96; expected a multiple of 128: 4 factors for 32 elements each}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<64x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @m(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has M = 64; expected a multiple of 128}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x20xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @n(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has N = 20; expected a multiple of 8, for example 16 or 24}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x20xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x0xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<0x4xf8E8M0FNU>, #smem.auto>
func.func @n0(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has N = 0; expected a multiple of 8, for example 8}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x0xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<256x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @a_factors_rows(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op scales A by tensor<256x4xf8E8M0FNU>; expected 128x4 of f8E8M0FNU}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<64x4xf8E8M0FNU>, #smem.auto>
func.func @b_factors_rows(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op scales B by tensor<64x4xf8E8M0FNU>; expected 128x4 of f8E8M0FNU}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
func.func @b_factors_many(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op scales B by tensor<128x8xf8E8M0FNU>; expected 128x4 of f8E8M0FNU}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf4E2M1FN>, #smem.auto>
!sa = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x8xf8E4M3FN>, #smem.auto>
func.func @two_factor_types(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op scales B by tensor<128x8xf8E4M3FN>; expected 128x8 of f8E8M0FNU}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.layout<"(128,4):(4,1)">>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @factors_layout(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op cannot read the factors of A: the factors are stored as Swizzle<0,4,3> o (128,4):(4,1); tcgen05.cp copies blocks of Swizzle<0,4,3> o ((32,4),4):((16,4),1)}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.swizzle<"none", "row-major">>
func.func @factors_layout_b(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op cannot read the factors of B: the factors are stored as Swizzle<0,4,3> o (128,4):(16,1); tcgen05.cp copies blocks of Swizzle<0,4,3> o ((32,4),4):((16,4),1)}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @accumulator(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op adds scaled products in f16; expected f32}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf16>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @shape(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op results in !smem.fragment<tensor<128x128xf32>, #smem.in_flight>; expected !smem.fragment<tensor<128x64xf32>, #smem.in_flight>}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!c = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @adds_shape(%a: !a, %b: !b, %sa: !sa, %sb: !sb, %c: !c) {
  // expected-error@+1 {{'smem.mma_scaled' op adds to tensor<128x128xf32>; expected tensor<128x64xf32>}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb, %c) : (!a, !b, !sa, !sb, !c) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!c = !smem.fragment<tensor<128x64xf16>, #smem.accumulator>
func.func @adds_type(%a: !a, %b: !b, %sa: !sa, %sb: !sb, %c: !c) {
  // expected-error@+1 {{'smem.mma_scaled' op adds to tensor<128x64xf16>; expected tensor<128x64xf32>}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb, %c) : (!a, !b, !sa, !sb, !c) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!c = !smem.fragment<tensor<128x64xf32>, #smem.a_fragment>
func.func @adds_multiplicand(%a: !a, %b: !b, %sa: !sa, %sb: !sb, %c: !c) {
  // expected-error@+1 {{'smem.mma_scaled' op adds to !smem.fragment<tensor<128x64xf32>, #smem.a_fragment>, which is not an accumulator}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb, %c) : (!a, !b, !sa, !sb, !c) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @satfinite(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has satfinite, a modifier of integers or tf32; expected negate_a or negate_b}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {satfinite} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @truncate(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has truncate, a modifier of integers or tf32; expected negate_a or negate_b}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {truncate} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @negate_value(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has negate_a = 1 : i32; expected a unit attribute, without a value}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {negate_a = 1 : i32} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf4E2M1FN>, #smem.swizzle<"none", "row-major">>
!sa = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
func.func @n_major_packed(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op cannot read B of layout Swizzle<0,4,3> o (128,(32,2)):(32,(1,4096)): the tile is N-major, but tcgen05 reads e2m1 K-major only}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf4E2M1FN>, #smem.swizzle<"none", "column-major">>
!b = !smem.tile<tensor<128x64xf4E2M1FN>, #smem.auto>
!sa = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
func.func @m_major_packed(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op cannot read A of layout Swizzle<0,4,3> o ((32,4),128):((1,4096),32): the tile is M-major, but tcgen05 reads e2m1 K-major only}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.swizzle<"128B_ATOM_32B", "row-major">>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @atoms_of_32(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op cannot read A of layout Swizzle<2,5,2> o (128,128):(128,1): the tile is K-major with swizzle 128B_ATOM_32B, but tcgen05 reads e4m3 so with 128B or 64B or 32B or none}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x24xf8E4M3FN>, #smem.swizzle<"none", "row-major">>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @n_major_8bit(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op cannot read B of layout Swizzle<0,4,3> o (128,(16,2)):(16,(1,2048)): N is 24; kind::mxf8f6f4 with cta_group::1 takes N of 16 to 256 by 16, or several of them, of e4m3 that is N-major}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x24xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!c = i32
func.func @no_accumulator(%a: !a, %b: !b, %sa: !sa, %sb: !sb, %c: !c) {
  // expected-error@+1 {{expected base type 'smem.fragment' but got 'builtin.integer'}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb, %c) : (!a, !b, !sa, !sb, !c) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!s = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @used_twice(%a: !a, %b: !b, %s: !s, %c: !d) {
  // expected-error@+1 {{'smem.mma_scaled' op uses an accumulator in flight that has 2 uses; its registers cannot be copied before an smem.wait}}
  %0 = "smem.mma_scaled"(%a, %b, %s, %s, %c) : (!a, !b, !s, !s, !d) -> !d
  %1 = "smem.wait"(%c) {pending = 0 : i32} : (!d) -> !d
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
func.func @no_scales(%a: !a, %b: !b) {
  // expected-error@+1 {{op expects at least 4 operands, but got 2}}
  %0 = "smem.mma_scaled"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

// A scaled A is a tile.

!a = !smem.fragment<tensor<128x128xf8E4M3FN>, #smem.a_fragment>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!s = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @a_in_registers(%a: !a, %b: !b, %s: !s) {
  // expected-error@+1 {{expected base type 'smem.tile' but got 'smem.fragment'}}
  %0 = "smem.mma_scaled"(%a, %b, %s, %s) : (!a, !b, !s, !s) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}
