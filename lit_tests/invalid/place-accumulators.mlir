// Mma of CTA pairs and block-scaled mma that a kernel cannot have.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-to-nvvm=arch=sm_100a

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
!single = !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
func.func @mixed() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error-re@+1 {{'smem.mma' op has pair, but the mma at {{[0-9:]+}} has no pair; all instructions of a kernel have the same .cta_group}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !d
  %1 = "smem.mma"(%a, %b) : (!a, !b) -> !single

  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x32xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
!single = !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
func.func @mixed_with_scaled() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  %sa = "smem.alloc"() : () -> !sa
  %sb = "smem.alloc"() : () -> !sb
  // expected-error-re@+1 {{'smem.mma_scaled' op has pair, but the mma at {{[0-9:]+}} has no pair; all instructions of a kernel have the same .cta_group}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !d
  %1 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !single

  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @no_cluster() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error@+1 {{'smem.mma' op has pair, but the kernel has clusters of 1x1x1 CTAs; expected an even number along x: known_cluster_size = array<i32: 2, 1, 1>}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !d

  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @odd_cluster() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 1, 2, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error@+1 {{'smem.mma' op has pair, but the kernel has clusters of 1x2x1 CTAs; expected an even number along x: known_cluster_size = array<i32: 2, 1, 1>}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !d

  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @cluster_of_three() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 3, 2, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error@+1 {{'smem.mma' op has pair, but the kernel has clusters of 3x2x1 CTAs; expected an even number along x: known_cluster_size = array<i32: 2, 1, 1>}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !d

  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x256xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<256x4xf8E8M0FNU>, #smem.auto>
!d = !smem.fragment<tensor<128x256xf32>, #smem.in_flight>
// expected-error@+1 {{'func.func' op needs 524 columns of tensor memory for each of 1 warpgroups, but a CTA has 512}}
func.func @factors_too() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  %sa = "smem.alloc"() : () -> !sa
  %sb = "smem.alloc"() : () -> !sb
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {} : (!a, !b, !sa, !sb) -> !d
  %1 = "smem.mma_scaled"(%a, %b, %sa, %sb) {} : (!a, !b, !sa, !sb) -> !d

  return
}

// -----

!a = !smem.tile<tensor<256x2048xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<2048x128xf4E2M1FN>, #smem.auto>
!sa = !smem.tile<tensor<256x128xf8E4M3FN>, #smem.auto>
!sb = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!d = !smem.fragment<tensor<256x128xf32>, #smem.in_flight>
// expected-error@+1 {{'func.func' op needs 640 columns of tensor memory for each of 1 warpgroups, but a CTA has 512}}
func.func @long_k_factors() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  %sa = "smem.alloc"() : () -> !sa
  %sb = "smem.alloc"() : () -> !sb
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {} : (!a, !b, !sa, !sb) -> !d

  return
}

// -----

!a = !smem.tile<tensor<64x256xi1>, #smem.auto>
!b = !smem.tile<tensor<256x32xi1>, #smem.auto>
!d = !smem.fragment<tensor<64x32xi32>, #smem.in_flight>
func.func @bits() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error@+1 {{'smem.mma' op multiplies b1 by b1, which tcgen05 does not; wgmma (sm_90) does}}
  %0 = "smem.mma"(%a, %b) {} : (!a, !b) -> !d

  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
!st = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
func.func @no_factor_blocks() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error@+1 {{'smem.alloc' op has no layout that all its uses accept on sm_100}}
  %st = "smem.alloc"() : () -> !st
  %sa = "smem.subtile"(%st) {static_offsets = array<i64: 0, 2>} : (!st) -> !sa
  %sb = "smem.alloc"() : () -> !sb
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {} : (!a, !b, !sa, !sb) -> !d

  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
!st = !smem.tile<tensor<256x4xf8E8M0FNU>, #smem.auto>
func.func @factor_rows() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  %sa = "smem.alloc"() : () -> !sa
  // expected-error@+1 {{'smem.alloc' op has no layout that all its uses accept on sm_100}}
  %st = "smem.alloc"() : () -> !st
  %sb = "smem.subtile"(%st) {static_offsets = array<i64: 64, 0>} : (!st) -> !sb
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {} : (!a, !b, !sa, !sb) -> !d

  return
}
