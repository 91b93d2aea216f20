// RUN: smem-opt %s --split-input-file --verify-diagnostics

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
func.func @no_metadata(%a: !a, %b: !b) {
  // expected-error@+1 {{op expects at least 3 operands, but got 2}}
  %0 = "smem.mma_sp"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @accumulator_for_metadata(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op takes metadata as #smem.metadata, not !smem.fragment<tensor<64x16xf32>, #smem.accumulator>}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x128xbf16>, #smem.metadata>
func.func @metadata_of_other_k(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op has metadata of tensor<64x128xbf16> for an A that stores 64x32xbf16; expected that of 64x64xbf16}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<128x64xbf16>, #smem.metadata>
func.func @metadata_of_other_rows(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op has metadata of tensor<128x64xbf16> for an A that stores 64x32xbf16; expected that of 64x64xbf16}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xf16>, #smem.metadata>
func.func @metadata_of_other_elements(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op has metadata of tensor<64x64xf16> for an A that stores 64x32xbf16; expected that of 64x64xbf16}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x48xbf16>, #smem.metadata>
func.func @metadata_of_less(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op has metadata of [64, 48]; expected (M, K) with M a multiple of 64 and K of 32 for bf16}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

// K is that of A with its zeros.

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<32x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @k_of_what_is_kept(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op multiplies A of 64x64 by B of 32x16: K differs, 64 and 32}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @elements(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op multiplies bf16 by f16; expected B of bf16}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @a_is_an_accumulator(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op takes A in registers as #smem.a_fragment, not !smem.fragment<tensor<64x32xf32>, #smem.accumulator>; smem.convert makes one of an accumulator, smem.load of a tile}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<4x64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @a_stages(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op takes A (rows, columns), not [4, 64, 32]; take a stage}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

// No sparse wgmma of i1.

!a = !smem.tile<tensor<64x256xi1>, #smem.auto>
!b = !smem.tile<tensor<512x16xi1>, #smem.auto>
!e = !smem.fragment<tensor<64x512xbf16>, #smem.metadata>
func.func @bits(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op multiplies sparse b1, which wgmma cannot; smem.mma multiplies it dense}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xf32>, #smem.auto>
!b = !smem.tile<tensor<64x16xtf32>, #smem.auto>
!e = !smem.fragment<tensor<64x64xtf32>, #smem.metadata>
func.func @unrounded(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op reads f32 data as tf32, which cuts 13 bits off; copy to a tile of tf32, which rounds, or set the unit attribute truncate}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xi8>, #smem.auto>
!b = !smem.tile<tensor<64x16xi8>, #smem.swizzle<"none", "row-major">>
!e = !smem.fragment<tensor<64x64xi8>, #smem.metadata>
func.func @n_major(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op cannot read B of layout Swizzle<0,4,3> o (64,16):(16,1): the tile is N-major, but wgmma reads s8 K-major only (MN-major is for 16-bit types); a copy can make it K-major (smem.copy with the unit attribute relayout)}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xi32>, #smem.in_flight>
  return
}

// -----

// The 32 rows of K of B that an instruction reads must be two contiguous patterns of 16.

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.layout<"Swizzle<1,4,3> o ((8,8),16):((1,512),16)">>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @b_of_half_an_instruction(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op cannot read B of layout Swizzle<1,4,3> o ((8,8),16):((1,512),16): the MMA tile of 16x32 at (0, 0): along k, the stride of factor 2 is 512 elements where T = 8 is needed; K-major, swizzle 32B, is Swizzle<1,4,3> o ((8,m),(T,2,k)):((2T,SBO),(1,T,LBO))}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
func.func @accumulator(%a: !a, %b: !b, %e: !e, %c: !c) {
  // expected-error@+1 {{'smem.mma_sp' op adds to tensor<64x32xf32>; expected tensor<64x16xf32>}}
  %0 = "smem.mma_sp"(%a, %b, %e, %c) : (!a, !b, !e, !c) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @result(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op results in !smem.fragment<tensor<64x32xf32>, #smem.in_flight>; expected !smem.fragment<tensor<64x16xf32>, #smem.in_flight>}}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !smem.fragment<tensor<64x32xf32>, #smem.in_flight>
  return
}
