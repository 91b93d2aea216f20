// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s

!stages = !smem.tile<tensor<4x128x128xbf16>, #smem.auto>
!stage = !smem.tile<tensor<128x128xbf16>, #smem.auto>
!subtile = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

func.func @subtiles(%i: index, %row: index, %b: !b) {
  // CHECK: %[[T:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x128x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (4,128,(64,2)):(16384,64,(1,8192))">>
  %t = "smem.alloc"() : () -> !stages
  // CHECK: %[[S:.*]] = "smem.stage"(%[[T]], %{{.*}}) : {{.*}} -> !smem.tile<tensor<128x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (128,(64,2)):(64,(1,8192))">>
  %s = "smem.stage"(%t, %i) : (!stages, index) -> !stage
  // One atom wide: there is no mode for the next atom.
  // CHECK: %[[P:.*]] = "smem.subtile"(%[[S]], %{{.*}}) {{.*}} -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
  %p = "smem.subtile"(%s, %row) {static_offsets = array<i64: -9223372036854775808, 64>} : (!stage, index) -> !subtile
  // CHECK: "smem.mma"(%[[P]], %{{.*}}) : (!smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>,
  %d = "smem.mma"(%p, %b) : (!subtile, !b) -> !d
  return
}

// A subtile that cuts atoms keeps the modes of its tile. Static starts cost nothing: the swizzle stays wide.
!wide = !smem.tile<tensor<64x256xbf16>, #smem.auto>
// CHECK-LABEL: func.func @cuts
func.func @cuts(%m: memref<64x256xbf16>, %b: !b) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x256xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,(64,4)):(64,(1,4096))">>
  %t = "smem.alloc"() : () -> !wide
  "smem.copy"(%m, %t) : (memref<64x256xbf16>, !wide) -> ()
  // CHECK: %[[P:.*]] = "smem.subtile"({{.*}} -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">>
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 80>} : (!wide) -> !subtile
  // CHECK: "smem.mma"(%[[P]],
  %d = "smem.mma"(%p, %b) : (!subtile, !b) -> !d
  return
}

// A run-time start that cuts atoms would need a descriptor for each K block: narrower atoms are not cut.
// CHECK-LABEL: func.func @would_cut_at_run_time
func.func @would_cut_at_run_time(%m: memref<64x256xbf16>, %b: !b, %i: index) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x256xbf16>, #smem.layout<"Swizzle<2,4,3>
  %t = "smem.alloc"() : () -> !wide
  "smem.copy"(%m, %t) : (memref<64x256xbf16>, !wide) -> ()
  %p = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 32>} : (!wide, index) -> !subtile
  %d = "smem.mma"(%p, %b) : (!subtile, !b) -> !d
  return
}
