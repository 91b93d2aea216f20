// The start of a subtile. An offset of whole swizzle patterns, such as a stage, does not change the phase of a vector:
// it is added to the address. A smaller offset, such as a row, is added before the swizzle.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!stages = !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!stage = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!rows = !smem.tile<tensor<16x64xbf16>, #smem.auto>

gpu.module @kernels {
  // A stage is 64 * 64 elements, 512 units of 16 bytes.
  // CHECK-LABEL: gpu.func @stage
  gpu.func @stage(%m: memref<64x64xbf16>, %i: index) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @__smem_dynamic
    // CHECK: %[[I:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK-NEXT: %[[UNITS:.*]] = arith.constant 512 : i32
    // CHECK-NEXT: %[[STAGE:.*]] = arith.muli %[[I]], %[[UNITS]] : i32
    // CHECK-NEXT: %[[C16:.*]] = arith.constant 16 : i32
    // CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[STAGE]], %[[C16]] : i32
    // CHECK: %[[SWIZZLED:.*]] = arith.xori
    // CHECK-NEXT: %[[TILE:.*]] = llvm.getelementptr %[[BASE]][%[[BYTES]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    // CHECK-NEXT: llvm.getelementptr %[[TILE]][%[[SWIZZLED]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !stages
    %s = "smem.stage"(%t, %i) : (!stages, index) -> !stage
    "smem.copy"(%m, %s) : (memref<64x64xbf16>, !stage) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rows_at_run_time
  gpu.func @rows_at_run_time(%m: memref<16x64xbf16>, %i: index, %row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @__smem_dynamic
    // CHECK: %[[STAGE:.*]] = arith.muli %{{.*}}, %{{.*}} : i32
    // A row is 64 elements, 8 units.
    // CHECK: %[[UNITS:.*]] = arith.constant 8 : i32
    // CHECK-NEXT: %[[ROW:.*]] = arith.muli %{{.*}}, %[[UNITS]] : i32
    // CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[STAGE]], %[[ROW]] : i32
    // CHECK: %[[START:.*]] = arith.muli %[[SUM]], %{{.*}} : i32
    // CHECK: %[[OFFSET:.*]] = arith.addi %{{.*}}, %[[START]] : i32
    // CHECK: arith.shrui %[[OFFSET]], %{{.*}} : i32
    // CHECK: %[[SWIZZLED:.*]] = arith.xori %[[OFFSET]], %{{.*}} : i32
    // CHECK-NEXT: llvm.getelementptr %[[BASE]][%[[SWIZZLED]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !stages
    %s = "smem.stage"(%t, %i) : (!stages, index) -> !stage
    %p = "smem.subtile"(%s, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!stage, index) -> !rows
    "smem.copy"(%m, %p) : (memref<16x64xbf16>, !rows) -> ()
    gpu.return
  }

  // Row 36 is 4608 bytes into the tile, 512 into a pattern.
  // CHECK-LABEL: gpu.func @rows_that_are_known
  gpu.func @rows_that_are_known(%m: memref<16x64xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[START:.*]] = arith.constant 4608 : i32
    // CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %{{.*}}, %[[START]] : i32
    // CHECK: arith.xori %[[OFFSET]], %{{.*}} : i32
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !stages
    %c0 = arith.constant 0 : index
    %s = "smem.stage"(%t, %c0) : (!stages, index) -> !stage
    %p = "smem.subtile"(%s) {static_offsets = array<i64: 36, 0>} : (!stage) -> !rows
    "smem.copy"(%m, %p) : (memref<16x64xbf16>, !rows) -> ()
    gpu.return
  }

  // Row 40 begins a pattern.
  // CHECK-LABEL: gpu.func @whole_patterns
  gpu.func @whole_patterns(%m: memref<16x64xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @__smem_dynamic
    // CHECK: %[[SWIZZLED:.*]] = arith.xori
    // CHECK-NEXT: %[[PART:.*]] = llvm.getelementptr %[[BASE]][5120] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK-NEXT: llvm.getelementptr %[[PART]][%[[SWIZZLED]]]
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !stages
    %c0 = arith.constant 0 : index
    %s = "smem.stage"(%t, %c0) : (!stages, index) -> !stage
    %p = "smem.subtile"(%s) {static_offsets = array<i64: 40, 0>} : (!stage) -> !rows
    "smem.copy"(%m, %p) : (memref<16x64xbf16>, !rows) -> ()
    gpu.return
  }
}
