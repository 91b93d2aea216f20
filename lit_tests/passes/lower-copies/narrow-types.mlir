// Elements of 4 and 6 bits: TMA pads them, counted in elements; packed ones are copied as the bytes that hold two.

// RUN: smem-opt %s --split-input-file --smem-lower-copies | FileCheck %s

!tile = !smem.tile<tensor<64x256xf6E2M3FN>, #smem.layout<"Swizzle<3,4,3> o (64,(128,2)):(128,(1,8192))">>
!pipeline = !smem.pipeline

// 256 elements of 6 bits take 192 bytes of the matrix and 256 of the tile, padding included: two boxes of 128.
// CHECK-LABEL: func.func @padded
// CHECK-SAME: smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>, contiguous = 1 : i64, element = "e2m3_p32", swizzle = "128B"}
// CHECK: arith.constant 16384 : i32
// CHECK: nvvm.mbarrier.expect_tx
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
// CHECK: arith.constant 128 : i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global
func.func @padded(%m: memref<64x384xi8>, %row: index, %column: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !tile
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = 16384 : i64} : () -> !pipeline
  "smem.tma_load"(%m, %t, %pipeline, %c0, %row, %column) : (memref<64x384xi8>, !tile, !pipeline, index, index, index) -> ()
  return
}

// -----

!tile = !smem.tile<tensor<64x256xf4E2M1FN>, #smem.layout<"Swizzle<3,4,3> o (64,256):(256,1)">>
!pipeline = !smem.pipeline

// CHECK-LABEL: func.func @packed
// CHECK-SAME: smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 128>, contiguous = 1 : i64, element = "i8", swizzle = "128B"}
// CHECK: arith.constant 8192 : i32
// CHECK: nvvm.mbarrier.expect_tx
func.func @packed(%m: memref<64x384xi8>, %row: index, %column: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !tile
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = 16384 : i64} : () -> !pipeline
  "smem.tma_load"(%m, %t, %pipeline, %c0, %row, %column) : (memref<64x384xi8>, !tile, !pipeline, index, index, index) -> ()
  return
}
