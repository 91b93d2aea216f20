// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s

!stages = !smem.tile<tensor<4x128x128xbf16>, #smem.auto>
!stage = !smem.tile<tensor<128x128xbf16>, #smem.auto>
!part = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

func.func @parts(%i: index, %row: index, %b: !b) {
  // CHECK: %[[T:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x128x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (4,128,(64,2)):(16384,64,(1,8192))">>
  %t = "smem.alloc"() : () -> !stages
  // CHECK: %[[S:.*]] = "smem.stage"(%[[T]], %{{.*}}) : {{.*}} -> !smem.tile<tensor<128x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (128,(64,2)):(64,(1,8192))">>
  %s = "smem.stage"(%t, %i) : (!stages, index) -> !stage
  // One atom wide: the step to the next is gone.
  // CHECK: %[[P:.*]] = "smem.subtile"(%[[S]], %{{.*}}) {{.*}} -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
  %p = "smem.subtile"(%s, %row) {static_offsets = array<i64: -9223372036854775808, 64>} : (!stage, index) -> !part
  // CHECK: "smem.mma"(%[[P]], %{{.*}}) : (!smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>,
  %d = "smem.mma"(%p, %b) : (!part, !b) -> !d
  return
}
