// A copy to a subtile that cuts atoms: its position in the modes decides in which atom a vector is.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

// Two atoms of 64 columns, 4096 elements apart.
!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!subtile = !smem.tile<tensor<16x64xbf16>, #smem.auto>

!along = !smem.tile<tensor<64x128xbf16>, #smem.layout<"Swizzle<3,4,3> o ((8,8),(64,2)):((64,1024),(1,512))">>
!rows = !smem.tile<tensor<32x64xbf16>, #smem.auto>
!wide = !smem.tile<tensor<64x256xbf16>, #smem.layout<"Swizzle<3,4,3> o ((8,8),(64,4)):((64,2048),(1,512))">>
!long = !smem.tile<tensor<16x256xbf16>, #smem.auto>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @static
  gpu.func @static(%m: memref<16x64xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[VECTOR:.*]] = arith.remui
    // CHECK: %[[ALONG:.*]] = arith.muli %[[VECTOR]], %{{.*}} : i32
    // CHECK: %[[C40:.*]] = arith.constant 40 : i32
    // CHECK-NEXT: %[[COLUMN:.*]] = arith.addi %[[ALONG]], %[[C40]] : i32
    // CHECK-NEXT: %[[C64:.*]] = arith.constant 64 : i32
    // CHECK-NEXT: %[[IN:.*]] = arith.remui %[[COLUMN]], %[[C64]] : i32
    // CHECK: %[[ATOM:.*]] = arith.divui %[[COLUMN]], %{{.*}} : i32
    // CHECK-NEXT: %[[C4096:.*]] = arith.constant 4096 : i32
    // CHECK-NEXT: %[[ATOMS:.*]] = arith.muli %[[ATOM]], %[[C4096]] : i32
    // CHECK-NEXT: arith.addi %[[IN]], %[[ATOMS]] : i32
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 40>} : (!t) -> !subtile
    "smem.copy"(%m, %p) : (memref<16x64xbf16>, !subtile) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @run_time
  // CHECK-SAME: (%{{.*}}: memref<16x64xbf16>, %[[K:.*]]: index)
  gpu.func @run_time(%m: memref<16x64xbf16>, %k: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[VECTOR:.*]] = arith.remui
    // CHECK: %[[ALONG:.*]] = arith.muli %[[VECTOR]], %{{.*}} : i32
    // CHECK: %[[START:.*]] = arith.index_cast %[[K]] : index to i32
    // CHECK-NEXT: %[[COLUMN:.*]] = arith.addi %[[ALONG]], %[[START]] : i32
    // CHECK-NEXT: %[[C64:.*]] = arith.constant 64 : i32
    // CHECK-NEXT: arith.remui %[[COLUMN]], %[[C64]] : i32
    // CHECK: arith.divui %[[COLUMN]], %{{.*}} : i32
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    %p = "smem.subtile"(%t, %k) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 8>} : (!t, index) -> !subtile
    "smem.copy"(%m, %p) : (memref<16x64xbf16>, !subtile) -> ()
    gpu.return
  }

  // The next 8 rows are after both atoms of these rows, so a run-time row cuts atoms. The distance of whole atoms is the
  // same for every row: the second round, 16 rows further, is a constant step of 2 * 1024 elements, 4096 bytes.
  // CHECK-LABEL: gpu.func @rows_at_run_time
  gpu.func @rows_at_run_time(%m: memref<32x64xbf16>, %row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: arith.xori
    // CHECK: %[[FIRST:.*]] = llvm.getelementptr
    // CHECK: llvm.store %{{.*}}, %[[FIRST]]
    // CHECK-NOT: arith.xori
    // CHECK: %[[SECOND:.*]] = llvm.getelementptr %[[FIRST]][4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    // CHECK: llvm.store %{{.*}}, %[[SECOND]]
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !along
    %p = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!along, index) -> !rows
    "smem.copy"(%m, %p) : (memref<32x64xbf16>, !rows) -> ()
    gpu.return
  }

  // Rounds of 4 rows are not whole atoms: each computes its addresses again.
  // CHECK-LABEL: gpu.func @half_atoms_at_run_time
  gpu.func @half_atoms_at_run_time(%m: memref<16x256xbf16>, %row: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK-COUNT-4: arith.xori
    // CHECK-NOT: arith.xori
    // CHECK: gpu.return
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !wide
    %p = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!wide, index) -> !long
    "smem.copy"(%m, %p) : (memref<16x256xbf16>, !long) -> ()
    gpu.return
  }
}
