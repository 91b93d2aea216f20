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
  // expected-error@+1 {{'smem.mma' op multiplies bf16 by f16; expected B of bf16}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xui8>, #smem.auto>
!b = !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
func.func @integers_by_floats(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op multiplies u8 by e4m3; expected B of s8 or u8}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xi8>, #smem.auto>
func.func @integers_in_floats(%a: !a) {
  // expected-error@+1 {{'smem.mma' op adds products of s8 and s8 in f32; expected i32}}
  %0 = "smem.mma"(%a, %a) : (!a, !a) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<64x64xf8E5M2>, #smem.auto>
func.func @floats_in_integers(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op adds products of e4m3 and e5m2 in i32; expected f32 or f16}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xi8>, #smem.auto>
!d = !smem.fragment<tensor<64x64xi32>, #smem.in_flight>
func.func @negated_integers(%a: !a) {
  // expected-error@+1 {{'smem.mma' op has negate_b of s8; only floats can be negated}}
  %0 = "smem.mma"(%a, %a) {negate_b} : (!a, !a) -> !d
  return
}

// -----

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @saturated_floats(%a: !a) {
  // expected-error@+1 {{'smem.mma' op has satfinite with bf16; it is for mma of s8 and u8}}
  %0 = "smem.mma"(%a, %a) {satfinite} : (!a, !a) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x256xi1>, #smem.auto>
!b = !smem.tile<tensor<256x64xi1>, #smem.auto>
func.func @saturated_bits(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has satfinite with b1; it is for mma of s8 and u8}}
  %0 = "smem.mma"(%a, %b) {satfinite} : (!a, !b) -> !smem.fragment<tensor<64x64xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xf32>, #smem.auto>
func.func @unrounded(%a: !a) {
  // expected-error@+1 {{'smem.mma' op reads f32 data as tf32, which cuts 13 bits off; copy to a tile of tf32, which rounds, or set the unit attribute truncate}}
  %0 = "smem.mma"(%a, %a) : (!a, !a) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xf16>, #smem.auto>
func.func @nothing_to_truncate(%a: !a) {
  // expected-error@+1 {{'smem.mma' op has truncate with f16; it is for f32 data that is read as tf32}}
  %0 = "smem.mma"(%a, %a) {truncate} : (!a, !a) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xi8>, #smem.auto>
!b = !smem.tile<tensor<64x24xi8>, #smem.swizzle<"none", "row-major">>
func.func @n_major_integers(%a: !a, %b: !b) {
  // expected-error@+1 {{the tile is N-major, but wgmma reads s8 K-major only (MN-major is for 16-bit types); a copy can make it K-major (smem.copy with the unit attribute relayout), and tcgen05 (sm_100) can read it so; N is 24; kind::i8 with cta_group::1 takes N of 16 to 256 by 16, or several of them, of s8 that is N-major}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x24xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x48xi8>, #smem.auto>
!b = !smem.tile<tensor<48x64xi8>, #smem.auto>
func.func @k_of_integers(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has K = 48; expected a multiple of 32 for s8}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xi32>, #smem.in_flight>
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
func.func @result_shape(%t: !t) {
  // expected-error@+1 {{'smem.mma' op results in !smem.fragment<tensor<64x128xf32>, #smem.in_flight>; expected !smem.fragment<tensor<64x64xf32>, #smem.in_flight>}}
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @result_element(%t: !t) {
  // expected-error@+1 {{'smem.mma' op adds products of bf16 and bf16 in f16; expected f32}}
  %0 = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x64xf16>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
func.func @accumulator_shape(%t: !t, %c: !c) {
  // expected-error@+1 {{'smem.mma' op adds to tensor<128x64xf32>; expected tensor<64x64xf32>}}
  %0 = "smem.mma"(%t, %t, %c) : (!t, !t, !c) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf16>, #smem.accumulator>
func.func @accumulator_element(%t: !t, %c: !c) {
  // expected-error@+1 {{'smem.mma' op adds to tensor<64x64xf16>; expected tensor<64x64xf32>}}
  %0 = "smem.mma"(%t, %t, %c) : (!t, !t, !c) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Registers that an unfinished wgmma may write cannot be copied, so they have one user.

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

// -----

// Only smem.mma_sp has metadata.

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x16xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x32xbf16>, #smem.metadata>
func.func @metadata_of_a_dense_a(%a: !a, %b: !b, %c: !c) {
  // expected-error@+1 {{'smem.mma' op adds to !smem.fragment<tensor<64x32xbf16>, #smem.metadata>, which is not an accumulator}}
  %0 = "smem.mma"(%a, %b, %c) : (!a, !b, !c) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x16xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x16xf32>, #smem.a_fragment>
func.func @multiplicand_added(%a: !a, %b: !b, %c: !c) {
  // expected-error@+1 {{'smem.mma' op adds to !smem.fragment<tensor<64x16xf32>, #smem.a_fragment>, which is not an accumulator}}
  %0 = "smem.mma"(%a, %b, %c) : (!a, !b, !c) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

// The D of an mma needs smem.convert to become the A of another.

!a = !smem.fragment<tensor<64x16xf16>, #smem.accumulator>
!b = !smem.tile<tensor<16x16xf16>, #smem.auto>
func.func @a_is_readable(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op takes A in registers as #smem.a_fragment, not !smem.fragment<tensor<64x16xf16>, #smem.accumulator>; smem.convert makes one of an accumulator, smem.load of a tile}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.fragment<tensor<64x16xf16>, #smem.in_flight>
!b = !smem.tile<tensor<16x16xf16>, #smem.auto>
func.func @a_is_in_flight(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op takes A in registers as #smem.a_fragment, not !smem.fragment<tensor<64x16xf16>, #smem.in_flight>; smem.convert makes one of an accumulator, smem.load of a tile}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.fragment<tensor<64xf16>, #smem.a_fragment>
!b = !smem.tile<tensor<16x16xf16>, #smem.auto>
func.func @a_of_one_dimension(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has an A fragment of [64]; expected (M, K) with M a multiple of 64 and K of 16 for f16}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.fragment<tensor<64x24xf16>, #smem.a_fragment>
!b = !smem.tile<tensor<24x16xf16>, #smem.auto>
func.func @k_of_registers(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has an A fragment of [64, 24]; expected (M, K) with M a multiple of 64 and K of 16 for f16}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>
func.func @b_in_registers(%a: !a, %b: !b) {
  // expected-error@+1 {{expected base type 'smem.tile' but got 'smem.fragment'}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.fragment<tensor<64x16xf32>, #smem.a_fragment>
!b = !smem.tile<tensor<16x16xtf32>, #smem.auto>
func.func @unrounded_registers(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op reads f32 data as tf32, which cuts 13 bits off; copy to a tile of tf32, which rounds, or set the unit attribute truncate}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x16xbf16>, #smem.auto>
func.func @multiplicand_result(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op results in !smem.fragment<tensor<64x16xf32>, #smem.a_fragment>; expected !smem.fragment<tensor<64x16xf32>, #smem.in_flight>}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x64xi32>, #smem.auto>
func.func @no_multiplicands(%a: !t, %b: !t) {
  // expected-error@+1 {{'smem.mma' op multiplies s32, which no tensor core does}}
  %0 = "smem.mma"(%a, %b) : (!t, !t) -> !smem.fragment<tensor<64x64xi32>, #smem.in_flight>
  return
}
