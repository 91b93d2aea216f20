// The offset of an element costs what a copy computes for its address, and nothing where all is known.

// RUN: smem-opt %s --allow-unregistered-dialect --smem-assign-layouts --smem-allocate --smem-lower-copies --canonicalize | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!stages = !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!part_of_stage = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!w = memref<16384xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @at_run_time
  gpu.func @at_run_time(%i: index, %j: index) workgroup(%bytes: !w) kernel {
    // CHECK-DAG: %[[I:.*]] = arith.index_cast %arg0 : index to i32
    // CHECK-DAG: %[[J:.*]] = arith.index_cast %arg1 : index to i32
    // CHECK: %[[ROW:.*]] = arith.muli %[[I]], %c64_i32 : i32
    // CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[ROW]], %[[J]] : i32
    // CHECK-NEXT: %[[LINE:.*]] = arith.shrui %[[OFFSET]], %c3_i32 : i32
    // CHECK-NEXT: %[[PHASE:.*]] = arith.andi %[[LINE]], %c56_i32 : i32
    // CHECK-NEXT: %[[SWIZZLED:.*]] = arith.xori %[[OFFSET]], %[[PHASE]] : i32
    // CHECK-NEXT: %[[INDEX:.*]] = arith.index_castui %[[SWIZZLED]] : i32 to index
    // CHECK-NEXT: "test.use"(%[[INDEX]])
    %t = "smem.view"(%bytes) : (!w) -> !t
    %o = "smem.offset"(%t, %i, %j) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
    "test.use"(%o) : (index) -> ()
    gpu.return
  }

  // Row 3, column 8 is unit 1 of line 3: unit 1 ^ 3 = 2 of that line, 3 * 64 + 2 * 8 = 208 elements.
  // CHECK-LABEL: gpu.func @known
  gpu.func @known() workgroup(%bytes: !w) kernel {
    // CHECK: %[[C:.*]] = arith.constant 208 : index
    // CHECK-NEXT: "test.use"(%[[C]])
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %t = "smem.view"(%bytes) : (!w) -> !t
    %o = "smem.offset"(%t, %c3, %c8) : (!t, index, index) -> index
    "test.use"(%o) : (index) -> ()
    gpu.return
  }

  // A stage is whole patterns: it is added after the swizzle, of which the rest is a constant.
  // CHECK-LABEL: gpu.func @of_a_subtile
  gpu.func @of_a_subtile(%stage: index) workgroup(%bytes: !w) kernel {
    // CHECK: %[[N:.*]] = arith.index_cast %arg0 : index to i32
    // CHECK-NEXT: %[[START:.*]] = arith.muli %[[N]], %c4096_i32 : i32
    // CHECK-NEXT: %[[OFFSET:.*]] = arith.addi %[[START]], %c{{.*}}_i32 : i32
    // CHECK-NEXT: arith.index_castui %[[OFFSET]]
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %t = "smem.view"(%bytes) : (!w) -> !stages
    %s = "smem.stage"(%t, %stage) : (!stages, index) -> !part_of_stage
    %o = "smem.offset"(%s, %c3, %c8) : (!part_of_stage, index, index) -> index
    "test.use"(%o) : (index) -> ()
    gpu.return
  }
}
