// RUN: smem-opt %s | smem-opt | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>

func.func @offset(%t: !t, %bits: !smem.tile<tensor<8x128xi1>, #smem.swizzle<"none", "row-major">>, %i: index) {
  // CHECK: "smem.offset"(%{{.*}}, %{{.*}}, %{{.*}}) : (!smem.tile<tensor<64x64xbf16>, #smem.auto>, index, index) -> index
  %0 = "smem.offset"(%t, %i, %i) : (!t, index, index) -> index
  // CHECK: "smem.offset"(%{{.*}}, %{{.*}}, %{{.*}}) {vector = array<i64: 1, 8>} : (!smem.tile<
  %1 = "smem.offset"(%t, %i, %i) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
  // CHECK: "smem.offset"(%{{.*}}, %{{.*}}, %{{.*}}) {vector = array<i64: 4, 1>} : (!smem.tile<
  %2 = "smem.offset"(%t, %i, %i) {vector = array<i64: 4, 1>} : (!t, index, index) -> index
  // CHECK: {vector = array<i64: 1, 128>} : (!smem.tile<tensor<8x128xi1>
  %3 = "smem.offset"(%bits, %i, %i) {vector = array<i64: 1, 128>} : (!smem.tile<tensor<8x128xi1>, #smem.swizzle<"none", "row-major">>, index, index) -> index
  return
}
