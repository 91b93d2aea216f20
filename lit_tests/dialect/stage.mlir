// RUN: smem-opt %s | smem-opt | FileCheck %s

!stages = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
!stage = !smem.tile<tensor<64x64xbf16>, #smem.auto>

// CHECK-LABEL: func.func @auto
func.func @auto(%t: !stages, %i: index) {
  // CHECK: "smem.stage"(%{{.*}}, %{{.*}}) : (!smem.tile<tensor<4x64x64xbf16>, #smem.auto>, index) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  %0 = "smem.stage"(%t, %i) : (!stages, index) -> !stage
  return
}

// The layout of a stage is that of the tile without its leading dimension.
!stages_swizzled = !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!stage_swizzled = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>

// CHECK-LABEL: func.func @layout
func.func @layout(%t: !stages_swizzled, %i: index) {
  // CHECK: "smem.stage"(%{{.*}}, %{{.*}}) : (!smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>, index) -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
  %0 = "smem.stage"(%t, %i) : (!stages_swizzled, index) -> !stage_swizzled
  return
}
