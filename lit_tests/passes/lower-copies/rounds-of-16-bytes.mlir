// 64 rows of 128 bytes are 512 vectors of 16 bytes: four for each of 128 threads. A round is 16 rows further, both in
// global memory and in the tile, so addresses are computed once.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!m = memref<64x64xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

gpu.module @kernels {
  // CHECK: llvm.mlir.global external @__smem_dynamic() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
  // CHECK: gpu.func @copy
  gpu.func @copy(%m: !m) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // The thread's first vector: row = thread / 8, column = thread % 8 * 8.
    // CHECK: %[[X:.*]] = gpu.thread_id x
    // CHECK-NEXT: %[[THREAD:.*]] = arith.index_cast %[[X]] : index to i32
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @__smem_dynamic : !llvm.ptr<3>
    // CHECK-NEXT: %[[TILE:.*]] = llvm.getelementptr %[[BASE]][1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: %[[ROW:.*]] = arith.divui %[[THREAD]], %{{.*}} : i32
    // CHECK: %[[VECTOR:.*]] = arith.remui %[[THREAD]], %{{.*}} : i32
    // CHECK: %[[COLUMN:.*]] = arith.muli %[[VECTOR]], %{{.*}} : i32
    // CHECK: %[[TO:.*]] = llvm.getelementptr %[[TILE]][%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK: %[[FROM:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    // CHECK-NEXT: %[[V:.*]] = llvm.load %[[FROM]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    // CHECK-NEXT: llvm.store %[[V]], %[[TO]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<3>
    // 16 rows of 64 elements, or of 128 bytes.
    // CHECK-NEXT: llvm.getelementptr %[[FROM]][1024] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16
    // CHECK-NEXT: llvm.getelementptr %[[TO]][2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK-NEXT: llvm.load
    // CHECK-NEXT: llvm.store
    // CHECK-NEXT: llvm.getelementptr %[[FROM]][2048]
    // CHECK-NEXT: llvm.getelementptr %[[TO]][4096]
    // CHECK-NEXT: llvm.load
    // CHECK-NEXT: llvm.store
    // CHECK-NEXT: llvm.getelementptr %[[FROM]][3072]
    // CHECK-NEXT: llvm.getelementptr %[[TO]][6144]
    // CHECK-NEXT: llvm.load
    // CHECK-NEXT: llvm.store
    // CHECK-NEXT: gpu.return
    %t = "smem.alloc"() {offset = 1024 : i64} : () -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    gpu.return
  }

  // Two warpgroups along y, one along z: the threads are counted x first.
  // CHECK-LABEL: gpu.func @block_of_three_dimensions
  gpu.func @block_of_three_dimensions(%m: !m) kernel attributes {known_block_size = array<i32: 32, 4, 2>} {
    // CHECK: %[[X:.*]] = gpu.thread_id x
    // CHECK: %[[X32:.*]] = arith.index_cast %[[X]] : index to i32
    // CHECK: %[[Y:.*]] = gpu.thread_id y
    // CHECK: %[[Y32:.*]] = arith.index_cast %[[Y]] : index to i32
    // CHECK: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK: %[[YS:.*]] = arith.muli %[[Y32]], %[[C32]] : i32
    // CHECK: %[[XY:.*]] = arith.addi %[[X32]], %[[YS]] : i32
    // CHECK: %[[Z:.*]] = gpu.thread_id z
    // CHECK: %[[Z32:.*]] = arith.index_cast %[[Z]] : index to i32
    // CHECK: %[[C128:.*]] = arith.constant 128 : i32
    // CHECK: %[[ZS:.*]] = arith.muli %[[Z32]], %[[C128]] : i32
    // CHECK: %[[THREAD:.*]] = arith.addi %[[XY]], %[[ZS]] : i32
    // CHECK: arith.divui %[[THREAD]], %{{.*}} : i32
    // CHECK-COUNT-2: llvm.store
    // CHECK-NOT: llvm.store
    // CHECK: gpu.return
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    gpu.return
  }
}
