// TMA copies between an argument of the kernel and a tile.

// RUN: smem-opt %s | smem-opt | FileCheck %s

!rows = memref<?x?xbf16, strided<[?, 1]>>
!columns = memref<?x?xbf16, strided<[1, ?]>>
!tile = !smem.tile<tensor<128x64xbf16>, #smem.auto>

// CHECK-LABEL: func.func @load
func.func @load(%m: !rows, %n: !columns, %t: !tile, %i: index) {
  %r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // CHECK: "smem.tma_load"(%{{.*}}, %{{.*}}, %{{.*}}, %[[I:.*]], %[[I]], %[[I]]) : (memref<?x?xbf16, strided<[?, 1]>>, !smem.tile<tensor<128x64xbf16>, #smem.auto>, !smem.pipeline, index, index, index) -> ()
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!rows, !tile, !smem.pipeline, index, index, index) -> ()
  // CHECK: {multicast = "x"} : (memref<?x?xbf16, strided<[1, ?]>>,
  "smem.tma_load"(%n, %t, %r, %i, %i, %i) {multicast = "x"} : (!columns, !tile, !smem.pipeline, index, index, index) -> ()
  // CHECK: {cache = "evict_first", multicast = "y"}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {cache = "evict_first", multicast = "y"} : (!rows, !tile, !smem.pipeline, index, index, index) -> ()
  return
}

// A coordinate for each dimension; rows and columns are along the last two.
!batches = memref<2x3x4x256x512xbf16>

// CHECK-LABEL: func.func @rank_5
func.func @rank_5(%m: !batches, %t: !tile, %i: index) {
  %r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // CHECK: "smem.tma_load"({{.*}}) : (memref<2x3x4x256x512xbf16>, !smem.tile<tensor<128x64xbf16>, #smem.auto>, !smem.pipeline, index, index, index, index, index, index) -> ()
  "smem.tma_load"(%m, %t, %r, %i, %i, %i, %i, %i, %i) : (!batches, !tile, !smem.pipeline, index, index, index, index, index, index) -> ()
  return
}

// A tile of tf32 is loaded from f32, a tile of i1 from bytes of eight; signed and unsigned bytes are the same.
!tf32 = !smem.tile<tensor<64x32xtf32>, #smem.swizzle<"128B", "row-major">>
!bits = !smem.tile<tensor<64x1024xi1>, #smem.swizzle<"128B", "row-major">>
!bytes = !smem.tile<tensor<64x128xui8>, #smem.swizzle<"128B", "row-major">>

// CHECK-LABEL: func.func @other_elements
func.func @other_elements(%m: memref<?x?xf32, strided<[?, 1]>>, %n: memref<?x?xi8, strided<[?, 1]>>, %t: !tf32, %u: !bits, %v: !bytes, %i: index) {
  // CHECK: "smem.tma_store"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!smem.tile<tensor<64x32xtf32>, {{.*}}>, memref<?x?xf32, strided<[?, 1]>>, index, index) -> ()
  "smem.tma_store"(%t, %m, %i, %i) : (!tf32, memref<?x?xf32, strided<[?, 1]>>, index, index) -> ()
  // CHECK: (!smem.tile<tensor<64x1024xi1>, {{.*}}>, memref<?x?xi8, strided<[?, 1]>>, index, index) -> ()
  "smem.tma_store"(%u, %n, %i, %i) : (!bits, memref<?x?xi8, strided<[?, 1]>>, index, index) -> ()
  // CHECK: (!smem.tile<tensor<64x128xui8>, {{.*}}>, memref<?x?xi8, strided<[?, 1]>>, index, index) -> ()
  "smem.tma_store"(%v, %n, %i, %i) : (!bytes, memref<?x?xi8, strided<[?, 1]>>, index, index) -> ()
  return
}

// CHECK-LABEL: func.func @store
func.func @store(%t: !tile, %m: !rows, %i: index) {
  // CHECK: "smem.tma_store"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {cache = "evict_last", host.note} :
  "smem.tma_store"(%t, %m, %i, %i) {cache = "evict_last", host.note} : (!tile, !rows, index, index) -> ()
  // CHECK-NEXT: "smem.tma_commit"() : () -> ()
  "smem.tma_commit"() : () -> ()
  // CHECK-NEXT: "smem.tma_wait"() {pending = 1 : i32, read} : () -> ()
  "smem.tma_wait"() {pending = 1 : i32, read} : () -> ()
  // CHECK-NEXT: "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  return
}

// Scale factors: blocks, at the row and the factor at which one begins.

!factors = !smem.tile<tensor<256x8xf8E8M0FNU>, #smem.auto>

// CHECK-LABEL: func.func @blocks_of_scale_factors
func.func @blocks_of_scale_factors(%m: memref<?x?x32x4x4xf8E8M0FNU>, %t: !factors, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // CHECK: "smem.tma_load"(%{{.*}}) {cache = "evict_last"} : (memref<?x?x32x4x4xf8E8M0FNU>, !smem.tile<tensor<256x8xf8E8M0FNU>, #smem.auto>, !smem.pipeline, index, index, index) -> ()
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) {cache = "evict_last"} : (memref<?x?x32x4x4xf8E8M0FNU>, !factors, !smem.pipeline, index, index, index) -> ()
  return
}
