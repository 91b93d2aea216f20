// Strides and offset of the source, static and dynamic.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!t = !smem.tile<tensor<32x64xbf16>, #smem.swizzle<"128B", "row-major">>
!transposed = !smem.tile<tensor<64x32xbf16>, #smem.swizzle<"128B", "column-major">>

gpu.module @kernels {
  // 4096 elements of 2 bytes into the buffer; rows 512 elements apart; the second round 16 rows further.
  // CHECK-LABEL: gpu.func @static
  gpu.func @static(%m: memref<32x64xbf16, strided<[512, 1], offset: 4096>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[INDEX:.*]] = memref.extract_aligned_pointer_as_index
    // CHECK-NEXT: %[[BUFFER:.*]] = arith.index_cast %[[INDEX]] : index to i64
    // CHECK-NEXT: %[[BYTES:.*]] = arith.constant 8192 : i64
    // CHECK-NEXT: %[[START:.*]] = arith.addi %[[BUFFER]], %[[BYTES]] : i64
    // CHECK-NEXT: %[[SOURCE:.*]] = llvm.inttoptr %[[START]] : i64 to !llvm.ptr<1>
    // CHECK: %[[PITCH:.*]] = arith.constant 512 : i64
    // CHECK: arith.muli %{{.*}}, %[[PITCH]] : i64
    // CHECK: %[[FROM:.*]] = llvm.getelementptr %[[SOURCE]]
    // CHECK: llvm.getelementptr %[[FROM]][8192] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.copy"(%m, %t) : (memref<32x64xbf16, strided<[512, 1], offset: 4096>>, !t) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @dynamic
  gpu.func @dynamic(%m: memref<32x64xbf16, strided<[?, 1], offset: ?>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}, %{{.*}} = memref.extract_strided_metadata
    // CHECK-NEXT: %[[ELEMENTS:.*]] = arith.index_cast %[[OFFSET]] : index to i64
    // CHECK-NEXT: %[[SIZE:.*]] = arith.constant 2 : i64
    // CHECK-NEXT: arith.muli %[[ELEMENTS]], %[[SIZE]] : i64
    // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
    // CHECK-NEXT: %[[PITCH:.*]] = arith.index_cast %[[STRIDES]]#0 : index to i64
    // CHECK: arith.muli %{{.*}}, %[[PITCH]] : i64
    // The second round is 16 rows further.
    // CHECK: %[[ROWS:.*]] = arith.constant 16 : i64
    // CHECK-NEXT: %[[STEP:.*]] = arith.muli %[[PITCH]], %[[ROWS]] : i64
    // CHECK-NEXT: llvm.getelementptr %{{.*}}[%[[STEP]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.copy"(%m, %t) : (memref<32x64xbf16, strided<[?, 1], offset: ?>>, !t) -> ()
    gpu.return
  }

  // Column-major: a thread's vector runs down a column of 64 elements, of which the pitch is the
  // second stride.
  // CHECK-LABEL: gpu.func @column_major
  gpu.func @column_major(%m: memref<64x32xbf16, strided<[1, ?]>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
    // CHECK-NEXT: %[[PITCH:.*]] = arith.index_cast %[[STRIDES]]#1 : index to i64
    // CHECK: %[[COLUMN:.*]] = arith.divui
    // CHECK: %[[VECTOR:.*]] = arith.remui
    // CHECK: %[[ROW:.*]] = arith.muli %[[VECTOR]], %{{.*}} : i32
    // CHECK: %[[COLUMN64:.*]] = arith.extui %[[COLUMN]] : i32 to i64
    // CHECK-NEXT: %[[FURTHER:.*]] = arith.muli %[[COLUMN64]], %[[PITCH]] : i64
    // CHECK-NEXT: %[[ROW64:.*]] = arith.extui %[[ROW]] : i32 to i64
    // CHECK-NEXT: arith.addi %[[FURTHER]], %[[ROW64]] : i64
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !transposed
    "smem.copy"(%m, %t) : (memref<64x32xbf16, strided<[1, ?]>>, !transposed) -> ()
    gpu.return
  }
}
