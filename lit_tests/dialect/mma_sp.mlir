// A sparse A, in a tile or in registers, with its metadata; then with an accumulator.

// RUN: smem-opt %s | smem-opt | FileCheck %s

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!ra = !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>
!b = !smem.tile<tensor<64x8xbf16>, #smem.auto>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>

func.func @sparse(%a: !a, %ra: !ra, %b: !b, %e: !e) {
  // CHECK: %[[D:.*]] = "smem.mma_sp"(%{{.*}}, %{{.*}}, %{{.*}}) : (!smem.tile<tensor<64x32xbf16>, #smem.auto>, !smem.tile<tensor<64x8xbf16>, #smem.auto>, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !d
  // CHECK: "smem.mma_sp"(%{{.*}}, %{{.*}}, %{{.*}}, %[[D]]) {negate_b} : (!smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>, {{.*}}, !smem.fragment<tensor<64x8xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %1 = "smem.mma_sp"(%ra, %b, %e, %0) {negate_b} : (!ra, !b, !e, !d) -> !d
  return
}
