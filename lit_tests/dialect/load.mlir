// A fragment is loaded from a tile or from global memory; the result type determines the registers.

// RUN: smem-opt %s | smem-opt | FileCheck %s

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!f32 = !smem.tile<tensor<64x32xf32>, #smem.swizzle<"128B", "row-major">>
!acc = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>

func.func @load(%a: !a, %t: !f32, %g: memref<64x32xf16, strided<[?, 1], offset: ?>>, %e: memref<2x1x128xi32, 1>, %rank: index) {
  // CHECK: "smem.load"(%{{.*}}) : (!smem.tile<tensor<64x64xbf16>, #smem.auto>) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  %0 = "smem.load"(%a) : (!a) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  // CHECK: "smem.load"(%{{.*}}) : (!smem.tile<tensor<64x32xf32>, #smem.swizzle<"128B", "row-major">>) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
  %1 = "smem.load"(%t) : (!f32) -> !acc
  // CHECK: "smem.load"(%{{.*}}) : (memref<64x32xf16, strided<[?, 1], offset: ?>>) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
  %2 = "smem.load"(%g) : (memref<64x32xf16, strided<[?, 1], offset: ?>>) -> !acc
  // Words of two blocks of 64 rows; a word holds the metadata of 64 elements of K.
  // CHECK: "smem.load"(%{{.*}}) : (memref<2x1x128xi32, 1>) -> !smem.fragment<tensor<128x64xbf16>, #smem.metadata>
  %3 = "smem.load"(%e) : (memref<2x1x128xi32, 1>) -> !smem.fragment<tensor<128x64xbf16>, #smem.metadata>
  // The tile of another CTA of the cluster.
  // CHECK: "smem.load"(%{{.*}}, %{{.*}}) : (!smem.tile<tensor<64x32xf32>, #smem.swizzle<"128B", "row-major">>, index) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
  %4 = "smem.load"(%t, %rank) : (!f32, index) -> !acc
  return
}
