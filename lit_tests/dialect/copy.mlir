// RUN: smem-opt %s | smem-opt | FileCheck %s

!rows = !smem.tile<tensor<128x64xbf16>, #smem.auto>

// CHECK-LABEL: func.func @row_major
func.func @row_major(%m: memref<128x64xbf16, strided<[?, 1], offset: ?>>, %t: !rows) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, strided<[?, 1], offset: ?>>, !smem.tile<tensor<128x64xbf16>, #smem.auto>) -> ()
  "smem.copy"(%m, %t) : (memref<128x64xbf16, strided<[?, 1], offset: ?>>, !rows) -> ()
  return
}

// CHECK-LABEL: func.func @column_major
func.func @column_major(%m: memref<128x64xbf16, strided<[1, ?]>>, %t: !rows) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, strided<[1, ?]>>, !smem.tile<
  "smem.copy"(%m, %t) : (memref<128x64xbf16, strided<[1, ?]>>, !rows) -> ()
  return
}

// CHECK-LABEL: func.func @global_space
func.func @global_space(%m: memref<128x64xbf16, #gpu.address_space<global>>, %n: memref<128x64xbf16, 1>, %t: !rows) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, #gpu.address_space<global>>, !smem.tile<
  "smem.copy"(%m, %t) : (memref<128x64xbf16, #gpu.address_space<global>>, !rows) -> ()
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16, 1>, !smem.tile<
  "smem.copy"(%n, %t) : (memref<128x64xbf16, 1>, !rows) -> ()
  return
}

!columns = !smem.tile<tensor<64x128xbf16>, #smem.auto>

// CHECK-LABEL: func.func @exchanged
func.func @exchanged(%m: memref<128x64xbf16, strided<[?, 1]>>, %t: !columns) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) {permutation = array<i64: 1, 0>} : (memref<128x64xbf16, strided<[?, 1]>>, !smem.tile<tensor<64x128xbf16>
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>} : (memref<128x64xbf16, strided<[?, 1]>>, !columns) -> ()
  return
}

// CHECK-LABEL: func.func @as_they_are
func.func @as_they_are(%m: memref<128x64xbf16>, %t: !rows) {
  // CHECK: {permutation = array<i64: 0, 1>}
  "smem.copy"(%m, %t) {permutation = array<i64: 0, 1>} : (memref<128x64xbf16>, !rows) -> ()
  return
}

// Without `relayout`, the first would be rejected: the memref is column-major, the tile row-major.

!k_major = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.swizzle<"128B", "row-major">>
!bits = !smem.tile<tensor<64x256xi1>, #smem.swizzle<"32B", "row-major">>

// CHECK-LABEL: func.func @transposed
func.func @transposed(%m: memref<64x128xf8E4M3FN, strided<[1, 64]>>, %n: memref<128x64xf8E4M3FN>,
                         %o: memref<256x8xi8, strided<[?, 1]>>, %t: !k_major, %u: !bits) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) {relayout} : (memref<64x128xf8E4M3FN, strided<[1, 64]>>, !smem.tile<
  "smem.copy"(%m, %t) {relayout} : (memref<64x128xf8E4M3FN, strided<[1, 64]>>, !k_major) -> ()
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) {permutation = array<i64: 1, 0>, relayout} : (memref<128x64xf8E4M3FN>, !smem.tile<
  "smem.copy"(%n, %t) {permutation = array<i64: 1, 0>, relayout} : (memref<128x64xf8E4M3FN>, !k_major) -> ()
  // Eight elements to a byte are packed along the contiguous dimension of global memory: 64 rows of the tile.
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) {permutation = array<i64: 1, 0>, relayout} : (memref<256x8xi8, strided<[?, 1]>>, !smem.tile<
  "smem.copy"(%o, %u) {permutation = array<i64: 1, 0>, relayout} : (memref<256x8xi8, strided<[?, 1]>>, !bits) -> ()
  return
}

// The layout of the source determines its contiguous dimension; `#smem.auto` allows both.

!loaded = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.swizzle<"128B", "column-major">>
!turned = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>

// CHECK-LABEL: func.func @from_a_tile
func.func @from_a_tile(%s: !loaded, %t: !k_major, %u: !turned, %f: !smem.tile<tensor<64x32xf32>, #smem.auto>,
                       %r: !smem.tile<tensor<64x32xtf32>, #smem.auto>) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) {permutation = array<i64: 1, 0>} : (!smem.tile<tensor<128x64xf8E4M3FN>, #smem.swizzle<"128B", "column-major">>, !smem.tile<tensor<64x128xf8E4M3FN>, #smem.swizzle<"128B", "row-major">>) -> ()
  "smem.copy"(%s, %t) {permutation = array<i64: 1, 0>} : (!loaded, !k_major) -> ()
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) {relayout} : (!smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>, !smem.tile<
  "smem.copy"(%u, %t) {relayout} : (!turned, !k_major) -> ()
  // Rounded by the copy.
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (!smem.tile<tensor<64x32xf32>, #smem.auto>, !smem.tile<tensor<64x32xtf32>, #smem.auto>) -> ()
  "smem.copy"(%f, %r) : (!smem.tile<tensor<64x32xf32>, #smem.auto>, !smem.tile<tensor<64x32xtf32>, #smem.auto>) -> ()
  return
}

// Scale factors: the shape of the memref identifies blocks.

!factors = !smem.tile<tensor<256x8xf8E8M0FNU>, #smem.layout<"Swizzle<0,4,3> o ((32,4,2),(4,2)):((16,4,1024),(1,512))">>
!open = !smem.tile<tensor<128x4xf8E4M3FN>, #smem.auto>
!part = memref<1x1x32x4x4xf8E4M3FN, strided<[?, 512, 16, 4, 1], offset: ?>>

// CHECK-LABEL: func.func @blocks_of_scale_factors
func.func @blocks_of_scale_factors(%m: memref<2x2x32x4x4xf8E8M0FNU>, %i: memref<2x2x32x4x4xi8>, %t: !factors,
                                   %n: !part, %u: !open) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<2x2x32x4x4xf8E8M0FNU>, !smem.tile<tensor<256x8xf8E8M0FNU>
  "smem.copy"(%m, %t) : (memref<2x2x32x4x4xf8E8M0FNU>, !factors) -> ()
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<2x2x32x4x4xi8>, !smem.tile<tensor<256x8xf8E8M0FNU>
  "smem.copy"(%i, %t) : (memref<2x2x32x4x4xi8>, !factors) -> ()
  // CHECK: "smem.copy_async"(%{{.*}}, %{{.*}}) : (memref<1x1x32x4x4xf8E4M3FN, strided<[?, 512, 16, 4, 1], offset: ?>>
  "smem.copy_async"(%n, %u) : (!part, !open) -> ()
  return
}

// CHECK-LABEL: func.func @dynamic_extents
func.func @dynamic_extents(%m: memref<?x64xbf16>, %n: memref<?x?xbf16>, %t: !rows) {
  // CHECK: "smem.copy"(%{{.*}}, %{{.*}}) : (memref<?x64xbf16>, !smem.tile<
  "smem.copy"(%m, %t) : (memref<?x64xbf16>, !rows) -> ()
  // CHECK: "smem.copy_async"(%{{.*}}, %{{.*}}) : (memref<?x?xbf16>, !smem.tile<
  "smem.copy_async"(%n, %t) : (memref<?x?xbf16>, !rows) -> ()
  return
}
