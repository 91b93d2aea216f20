// RUN: smem-opt %s | smem-opt | FileCheck %s

!tile = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!given = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK-LABEL: func.func @auto
func.func @auto(%t: !tile) {
  // CHECK: "smem.transpose"(%{{.*}}) : (!smem.tile<tensor<128x64xbf16>, #smem.auto>) -> !smem.tile<tensor<64x128xbf16>, #smem.auto>
  %0 = "smem.transpose"(%t) : (!tile) -> !smem.tile<tensor<64x128xbf16>, #smem.auto>
  return
}

// CHECK-LABEL: func.func @given
func.func @given(%t: !given) {
  // CHECK: "smem.transpose"(%{{.*}}) : (!smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "column-major">>
  %0 = "smem.transpose"(%t) : (!given) -> !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "column-major">>
  return
}
