// Mma that wgmma has and tcgen05 has not, or that is not lowered for it.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-to-nvvm=arch=sm_103a

!a = !smem.tile<tensor<64x64xi8>, #smem.auto>
!b = !smem.tile<tensor<64x64xi8>, #smem.auto>
func.func @integers(%m: memref<64x64xi8>, %n: memref<64x64xi8, strided<[1, 64]>>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%m, %a) : (memref<64x64xi8>, !a) -> ()
  "smem.copy"(%n, %b) : (memref<64x64xi8, strided<[1, 64]>>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-error@+1 {{multiplies s8 by s8, which tcgen05 on sm_103 does not; wgmma (sm_90) and tcgen05 (sm_100) do}}
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xf16>, #smem.auto>
func.func @sparse(%m: memref<64x32xf16>, %n: memref<64x64xf16>, %e: memref<1x1x128xi32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%m, %a) : (memref<64x32xf16>, !a) -> ()
  "smem.copy"(%n, %b) : (memref<64x64xf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %words = "smem.load"(%e) : (memref<1x1x128xi32>) -> !smem.fragment<tensor<64x64xf16>, #smem.metadata>
  // expected-error@+1 {{multiplies a sparse A, which is lowered for wgmma (sm_90) only, not for sm_103}}
  %d = "smem.mma_sp"(%a, %b, %words) : (!a, !b, !smem.fragment<tensor<64x64xf16>, #smem.metadata>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xf16>, #smem.auto>
!wide = !smem.tile<tensor<64x256xf16>, #smem.auto>
!flying = !smem.fragment<tensor<64x256xf32>, #smem.in_flight>
// expected-error@+1 {{needs 512 columns of tensor memory for each of 2 warpgroups, but a CTA has 512}}
func.func @columns(%m: memref<64x64xf16>, %n: memref<64x256xf16>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %w = "smem.alloc"() : () -> !wide
  "smem.copy"(%m, %t) : (memref<64x64xf16>, !t) -> ()
  "smem.copy"(%n, %w) : (memref<64x256xf16>, !wide) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %0 = "smem.mma"(%t, %w) : (!t, !wide) -> !flying
  %1 = "smem.mma"(%t, %w) : (!t, !wide) -> !flying
  return
}

// -----

!t = !smem.tile<tensor<64x64xf16>, #smem.auto>
!flying = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
// expected-error@+1 {{passes an accumulator in flight; on tcgen05 its kernel makes each itself}}
func.func @passed(%m: memref<64x64xf16>, %given: !flying) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xf16>, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %0 = "smem.mma"(%t, %t, %given) : (!t, !t, !flying) -> !flying
  return
}

// -----

!a = !smem.tile<tensor<128x64xi8>, #smem.auto>
!b = !smem.tile<tensor<64x32xi8>, #smem.auto>
!d = !smem.fragment<tensor<128x64xi32>, #smem.in_flight>
func.func @integers_pair() attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  // expected-error@+1 {{'smem.mma' op multiplies s8 by s8 in CTA pairs, which tcgen05 on sm_103 does not; tcgen05 (sm_100) does}}
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !d

  return
}
