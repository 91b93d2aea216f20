// A from a tile: by ldmatrix where 16 bytes are contiguous, else element by element.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!k = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// Thread t passes the address of row 16 * (t / 32) + t % 16, 16 bytes further in the upper half of a warp; four
// matrices are the registers of one instruction.
// CHECK-LABEL: func.func @k_major
func.func @k_major() -> !a attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[WARP:.*]] = arith.divui %[[T:.*]], %c32_i32 : i32
  // CHECK-NEXT: %[[LANE:.*]] = arith.remui %[[T]], %c32_i32 : i32
  // CHECK-NEXT: %[[ROW0:.*]] = arith.muli %[[WARP]], %c16_i32 : i32
  // CHECK-NEXT: %[[ROW1:.*]] = arith.remui %[[LANE]], %c16_i32 : i32
  // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[ROW0]], %[[ROW1]] : i32
  // CHECK-NEXT: %[[HALF:.*]] = arith.divui %[[LANE]], %c16_i32 : i32
  // CHECK-NEXT: %[[COLUMN:.*]] = arith.muli %[[HALF]], %c8_i32 : i32
  // CHECK-NEXT: %[[LINE:.*]] = arith.muli %[[ROW]], %c64_i32 : i32
  // CHECK-NEXT: %[[WITHIN:.*]] = arith.addi %[[LINE]], %[[COLUMN]] : i32
  // CHECK-NEXT: %[[BYTES:.*]] = arith.muli %[[WITHIN]], %c2_i32 : i32
  // CHECK-NEXT: %[[SHIFTED:.*]] = arith.shrui %[[BYTES]], %c3_i32 : i32
  // CHECK-NEXT: %[[PHASE:.*]] = arith.andi %[[SHIFTED]], %c112_i32 : i32
  // CHECK-NEXT: %[[AT:.*]] = arith.xori %[[BYTES]], %[[PHASE]] : i32
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %[[BASE:.*]][%[[AT]]]
  // CHECK-NEXT: nvvm.ldmatrix %[[P]] {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
  // A step along k flips the same address bits for every thread.
  // CHECK: %[[AT1:.*]] = arith.xori %[[AT]], %c32_i32 : i32
  // CHECK-NEXT: %[[P1:.*]] = llvm.getelementptr %[[BASE]][%[[AT1]]]
  // CHECK-NEXT: nvvm.ldmatrix %[[P1]] {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK: arith.xori %[[AT]], %c64_i32 : i32
  // CHECK: nvvm.ldmatrix
  // CHECK: arith.xori %[[AT]], %c96_i32 : i32
  // CHECK: nvvm.ldmatrix
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: llvm.insertvalue %{{.*}}[15]
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !k
  %a = "smem.load"(%t) : (!k) -> !a
  return %a : !a
}

// M contiguous: ldmatrix transposes. 16 of K are 16 lines of 128 bytes, whole patterns: one add.
// CHECK-LABEL: func.func @m_major
func.func @m_major() -> !a attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[AT:.*]] = arith.xori
  // CHECK: nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK: %[[AT1:.*]] = arith.addi %[[AT]], %c2048_i32 : i32
  // CHECK-NEXT: %[[P1:.*]] = llvm.getelementptr %{{.*}}[%[[AT1]]]
  // CHECK-NEXT: nvvm.ldmatrix %[[P1]] {{.*}}layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK: arith.addi %[[AT]], %c4096_i32 : i32
  // CHECK: arith.addi %[[AT]], %c6144_i32 : i32
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !m
  %a = "smem.load"(%t) : (!m) -> !a
  return %a : !a
}

// M-major 32-bit elements: one load each, 8 rows and 4 columns apart.
!m32 = !smem.tile<tensor<64x8xtf32>, #smem.swizzle<"32B", "column-major">>
!a32 = !smem.fragment<tensor<64x8xtf32>, #smem.a_fragment>
// CHECK-LABEL: func.func @m_major_tf32
func.func @m_major_tf32() -> !a32 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[AT:.*]] = arith.xori
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[AT]]]
  // CHECK-NEXT: %[[A0:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<3> -> i32
  // CHECK-NEXT: arith.addi %[[AT]], %c256_i32 : i32
  // CHECK: %[[A1:.*]] = llvm.load
  // CHECK-NEXT: arith.xori %[[AT]], %c144_i32 : i32
  // CHECK: %[[A2:.*]] = llvm.load
  // CHECK-NEXT: arith.xori %[[AT]], %c400_i32 : i32
  // CHECK: %[[A3:.*]] = llvm.load
  // CHECK: %[[S0:.*]] = llvm.insertvalue %[[A0]], %{{.*}}[0]
  // CHECK-NEXT: %[[S1:.*]] = llvm.insertvalue %[[A1]], %[[S0]][1]
  // CHECK-NEXT: %[[S2:.*]] = llvm.insertvalue %[[A2]], %[[S1]][2]
  // CHECK-NEXT: llvm.insertvalue %[[A3]], %[[S2]][3]
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !m32
  %a = "smem.load"(%t) : (!m32) -> !a32
  return %a : !a32
}

// M-major 8-bit elements: four loads are combined to a register.
!m8 = !smem.tile<tensor<64x32xi8>, #smem.swizzle<"64B", "column-major">>
!a8 = !smem.fragment<tensor<64x32xi8>, #smem.a_fragment>
// CHECK-LABEL: func.func @m_major_s8
func.func @m_major_s8() -> !a8 attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[B0:.*]] = llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<3> -> i8
  // CHECK-NEXT: %[[W0:.*]] = arith.extui %[[B0]] : i8 to i32
  // CHECK: %[[B1:.*]] = llvm.load
  // CHECK-NEXT: %[[W1:.*]] = arith.extui %[[B1]] : i8 to i32
  // CHECK-NEXT: %[[H1:.*]] = arith.shli %[[W1]], %c8_i32 : i32
  // CHECK-NEXT: %[[TWO:.*]] = arith.ori %[[W0]], %[[H1]] : i32
  // CHECK: arith.shli %{{.*}}, %c16_i32 : i32
  // CHECK: arith.shli %{{.*}}, %c24_i32 : i32
  // CHECK-COUNT-12: llvm.load %{{.*}} -> i8
  // CHECK-NOT: llvm.load
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !m8
  %a = "smem.load"(%t) : (!m8) -> !a8
  return %a : !a8
}

// Columns 48 to 63 begin inside an atom, at a multiple of 16 bytes: 96 bytes further.
!subtile = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!narrow = !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>
// CHECK-LABEL: func.func @part_of_an_atom
func.func @part_of_an_atom() -> !narrow attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %c96_i32 : i32
  // CHECK-NEXT: %[[SHIFTED:.*]] = arith.shrui %[[AT]], %c3_i32 : i32
  // CHECK-NEXT: %[[PHASE:.*]] = arith.andi %[[SHIFTED]], %c112_i32 : i32
  // CHECK-NEXT: %[[SWIZZLED:.*]] = arith.xori %[[AT]], %[[PHASE]] : i32
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[SWIZZLED]]]
  // CHECK-NEXT: nvvm.ldmatrix %[[P]] {{.*}}num = 4 : i32
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !k
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 48>} : (!k) -> !subtile
  %r = "smem.load"(%p) : (!subtile) -> !narrow
  return %r : !narrow
}

// Columns 48 to 111 begin in one atom and end in another: matrices of 8 columns are still contiguous.
!two = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!across = !smem.tile<tensor<64x64xbf16>, #smem.auto>
// CHECK-LABEL: func.func @part_of_two_atoms
func.func @part_of_two_atoms() -> !a attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK-COUNT-4: nvvm.ldmatrix
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !two
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 48>} : (!two) -> !across
  %r = "smem.load"(%p) : (!across) -> !a
  return %r : !a
}
