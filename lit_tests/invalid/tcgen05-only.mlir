// Mma that only tcgen05 has.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-to-nvvm

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @scaled() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  %sa = "smem.alloc"() : () -> !sa
  %sb = "smem.alloc"() : () -> !sb
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with block scaling, which wgmma does not; tcgen05 (sm_100, sm_103) does}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {} : (!a, !b, !sa, !sb) -> !d

  return
}

// -----

!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @pair() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error@+1 {{'smem.mma' op multiplies bf16 by bf16 in CTA pairs, which wgmma does not; tcgen05 (sm_100, sm_103) does}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !d

  return
}

// -----

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
func.func @scaled_pair() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  %sa = "smem.alloc"() : () -> !sa
  %sb = "smem.alloc"() : () -> !sb
  // expected-error@+1 {{'smem.mma_scaled' op multiplies e4m3 by e4m3 with block scaling in CTA pairs, which wgmma does not; tcgen05 (sm_100, sm_103) does}}
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !sa, !sb) -> !d

  return
}
