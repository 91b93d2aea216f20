// Mma that a CTA pair cannot execute.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @m(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has M = 64 with pair; expected a multiple of 128 in each CTA}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @m_of_registers(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has M = 64 with pair; expected a multiple of 128 in each CTA}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<192x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @m192(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has M = 192 with pair; expected a multiple of 128 in each CTA}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<192x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x4xbf16>, #smem.auto>
func.func @n(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has B of 4 columns in each of two CTAs: N is 8; kind::f16 with cta_group::2 has multiples of 16 up to 256, for example 16}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x136xbf16>, #smem.auto>
func.func @n_wide(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has B of 136 columns in each of two CTAs: N is 272; kind::f16 with cta_group::2 has multiples of 16 up to 256, for example 256}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x272xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xi8>, #smem.auto>
!b = !smem.tile<tensor<64x8xi8>, #smem.auto>
func.func @integers(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has B of 8 columns in each of two CTAs: N is 16; kind::i8 with cta_group::2 has multiples of 32 up to 256, for example 32}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x16xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xi8>, #smem.auto>
!b = !smem.tile<tensor<64x24xi8>, #smem.auto>
func.func @integers_24(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has B of 24 columns in each of two CTAs: N is 48; kind::i8 with cta_group::2 has multiples of 32 up to 256, for example 32 or 64}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x48xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<64x24xf8E4M3FN>, #smem.swizzle<"none", "row-major">>
func.func @n_major_bytes(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op cannot read B of layout Swizzle<0,4,3> o (64,(16,2)):(16,(1,1024)): N is 48; kind::f8f6f4 with cta_group::2 takes N of 32 to 256 by 32, or several of them, of e4m3 that is N-major}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x48xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @one_blocks_columns(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op results in !smem.fragment<tensor<128x32xf32>, #smem.in_flight>; expected !smem.fragment<tensor<128x64xf32>, #smem.in_flight>}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x256xi1>, #smem.auto>
!b = !smem.tile<tensor<256x32xi1>, #smem.auto>
func.func @bits(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has pair with B of b1, which tcgen05 does not multiply; only mma of tcgen05 have pair}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x64xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @value(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has pair = 2 : i32; expected a unit attribute, without a value}}
  %0 = "smem.mma"(%a, %b) {pair = 2 : i32} : (!a, !b) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @no_pair_is_no_value(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has pair = false; expected a unit attribute, without a value}}
  %0 = "smem.mma"(%a, %b) {pair = false} : (!a, !b) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @negated_by_value(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has negate_a = false; expected a unit attribute, without a value}}
  %0 = "smem.mma"(%a, %b) {negate_a = false} : (!a, !b) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xf32>, #smem.auto>
!b = !smem.tile<tensor<64x32xf32>, #smem.auto>
func.func @truncated_by_value(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has truncate = true; expected a unit attribute, without a value}}
  %0 = "smem.mma"(%a, %b) {truncate = true} : (!a, !b) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x0xbf16>, #smem.auto>
func.func @n0(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op has B of 0 columns in each of two CTAs: N is 0; kind::f16 with cta_group::2 has multiples of 16 up to 256, for example 16}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x0xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!e = !smem.fragment<tensor<128x64xbf16>, #smem.metadata>
func.func @sparse(%a: !a, %b: !b, %e: !e) {
  // expected-error@+1 {{'smem.mma_sp' op has pair with a sparse A; expected a dense one}}
  %0 = "smem.mma_sp"(%a, %b, %e) {pair} : (!a, !b, !e) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

func.func @descriptors(%a: i64, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has M = 64 with pair; expected a multiple of 128 in each CTA}}
  %0 = "smem.mma_desc"(%a, %b) {pair, a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

func.func @columns_of_descriptors(%a: i64, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has B of 12 columns in each of two CTAs: N is 24; kind::f16 with cta_group::2 has multiples of 16 up to 256, for example 16 or 32}}
  %0 = "smem.mma_desc"(%a, %b) {pair, a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<128x24xf32>, #smem.in_flight>
  return
}

// -----

func.func @bits_of_descriptors(%a: i64, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has pair with B of b1, which tcgen05 does not multiply; only mma of tcgen05 have pair}}
  %0 = "smem.mma_desc"(%a, %b) {pair, a_element = "b1", b_element = "b1", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<128x16xi32>, #smem.in_flight>
  return
}

// -----

func.func @value_at_descriptors(%a: i64, %b: i64) {
  // expected-error@+1 {{'smem.mma_desc' op has pair = false; expected a unit attribute, without a value}}
  %0 = "smem.mma_desc"(%a, %b) {pair = false, a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @scaled_value(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has pair = false; expected a unit attribute, without a value}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair = false} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x136xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<384x4xf8E8M0FNU>, #smem.auto>
func.func @scaled_n(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has B of 136 columns in each of two CTAs: N is 272; kind::mxf8f6f4 with cta_group::2 has multiples of 16 up to 256, for example 256}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x272xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x4xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @scaled_n4(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has B of 4 columns in each of two CTAs: N is 8; kind::mxf8f6f4 with cta_group::2 has multiples of 16 up to 256, for example 16}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<64x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @scaled_m(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op has M = 64; expected a multiple of 128}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @scaled_factors(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op scales B by tensor<128x4xf8E8M0FNU>; expected 256x4 of f8E8M0FNU}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x256xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @scaled_shape(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op results in !smem.fragment<tensor<128x64xf32>, #smem.in_flight>; expected !smem.fragment<tensor<128x128xf32>, #smem.in_flight>}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x24xf8E4M3FN>, #smem.swizzle<"none", "row-major">>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @scaled_n_major_8bit(%a: !a, %b: !b, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.mma_scaled' op cannot read B of layout Swizzle<0,4,3> o (128,(16,2)):(16,(1,2048)): N is 48; kind::mxf8f6f4 with cta_group::2 takes N of 32 to 256 by 32, or several of them, of e4m3 that is N-major}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x48xf32>, #smem.in_flight>
  return
}
