// An accumulator that is added only if a condition holds: readable, or in flight.

// RUN: smem-opt %s | smem-opt | FileCheck %s

!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

func.func @scale_d(%a: !a, %b: !b, %c: !c, %keep: i1) {
  // CHECK: %[[S:.*]] = "smem.scale_d"(%{{.*}}, %[[KEEP:.*]]) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, i1) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
  // CHECK-NEXT: %[[D:.*]] = "smem.mma"(%{{.*}}, %{{.*}}, %[[S]])
  %0 = "smem.scale_d"(%c, %keep) : (!c, i1) -> !c
  %1 = "smem.mma"(%a, %b, %0) : (!a, !b, !c) -> !d
  // CHECK: "smem.scale_d"(%[[D]], %[[KEEP]]) : (!smem.fragment<tensor<64x8xf32>, #smem.in_flight>, i1) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %2 = "smem.scale_d"(%1, %keep) : (!d, i1) -> !d
  %3 = "smem.mma"(%a, %b, %2) : (!a, !b, !d) -> !d
  return
}
