// Blocks of scale factors: a bulk copy of each 128 rows, without a tensor map.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!t = !smem.tile<tensor<256x8xf8E8M0FNU>, #smem.layout<"Swizzle<0,4,3> o ((32,4,2),(4,2)):((16,4,1024),(1,512))">>

// Blocks of a row are adjacent in global memory: one copy of 1024 bytes.
// CHECK-LABEL: func.func @rows_of_blocks(
// CHECK-SAME: %{{[a-z0-9]*}}: memref<?x?x32x4x4xf8E8M0FNU, strided<[?, 512, 16, 4, 1]>>, %{{[a-z0-9]*}}: index, %{{[a-z0-9]*}}: index)
func.func @rows_of_blocks(%m: memref<?x?x32x4x4xf8E8M0FNU, strided<[?, 512, 16, 4, 1]>>, %row: index, %factor: index)
    attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = 4096 : i64} : () -> !smem.pipeline
  // CHECK: %[[ALL:.*]] = arith.constant 2048 : i32
  // CHECK: nvvm.mbarrier.expect_tx %{{.*}}, %[[ALL]]
  // CHECK: %[[ROW:.*]] = arith.constant 1024 : i32
  // CHECK: nvvm.cp.async.bulk.shared.cluster.global %{{.*}}, %[[FROM:.*]], %{{.*}}, %[[ROW]] : !llvm.ptr<7>, <1>
  // CHECK: llvm.getelementptr %{{.*}}[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: llvm.getelementptr %[[FROM]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  // CHECK: nvvm.cp.async.bulk.shared.cluster.global
  // CHECK-NOT: nvvm.cp.async.bulk.shared.cluster.global
  // CHECK: return
  "smem.tma_load"(%m, %t, %pipeline, %c0, %row, %factor) : (memref<?x?x32x4x4xf8E8M0FNU, strided<[?, 512, 16, 4, 1]>>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// It is not known that they are adjacent: one copy of each block.
// CHECK-LABEL: func.func @single_blocks
// CHECK-COUNT-4: nvvm.cp.async.bulk.shared.cluster.global
// CHECK-NOT: nvvm.cp.async.bulk.shared.cluster.global
func.func @single_blocks(%m: memref<2x2x32x4x4xf8E8M0FNU, strided<[?, ?, 16, 4, 1]>>, %i: index)
    attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32, offset = 4096 : i64} : () -> !smem.pipeline
  "smem.tma_load"(%m, %t, %pipeline, %c0, %i, %i) : (memref<2x2x32x4x4xf8E8M0FNU, strided<[?, ?, 16, 4, 1]>>, !t, !smem.pipeline, index, index, index) -> ()
  return
}
