// Thread t holds, of a 64xN block, row 16 * (t / 32) + t % 32 / 4 and the one 8 below, and the columns
// 2 * (t % 4) and the next, of every 8.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @row_major
  gpu.func @row_major(%v: f32, %m: memref<64x16xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c = "smem.fill"(%v) : (f32) -> !c
    // The thread within its warpgroup, its row and its column.
    // CHECK: %[[C128:.*]] = arith.constant 128 : i32
    // CHECK-NEXT: %[[T:.*]] = arith.remui %{{.*}}, %[[C128]] : i32
    // CHECK-NEXT: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: %[[WARP:.*]] = arith.divui %[[T]], %[[C32]] : i32
    // CHECK: %[[LANE:.*]] = arith.remui %[[T]], %{{.*}} : i32
    // CHECK-NEXT: %[[C16:.*]] = arith.constant 16 : i32
    // CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[WARP]], %[[C16]] : i32
    // CHECK: %[[QUAD:.*]] = arith.divui %[[LANE]], %{{.*}} : i32
    // CHECK-NEXT: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[QUAD]] : i32
    // CHECK: %[[IN:.*]] = arith.remui %[[LANE]], %{{.*}} : i32
    // CHECK: %[[COLUMN:.*]] = arith.muli %[[IN]], %{{.*}} : i32
    // CHECK: %[[ROW64:.*]] = arith.extui %[[ROW]] : i32 to i64
    // CHECK: arith.muli %[[ROW64]], %{{.*}} : i64
    // CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    // Adjacent columns are stored together: 8 bytes. 8 rows of 16 elements are 128 elements; then the next 8 columns.
    // CHECK: llvm.store %{{.*}}, %[[AT]] {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
    // CHECK: %[[BELOW:.*]] = llvm.getelementptr %[[AT]][128] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32
    // CHECK: llvm.store %{{.*}}, %[[BELOW]] {alignment = 8 : i64} : vector<2xf32>
    // CHECK: %[[RIGHT:.*]] = llvm.getelementptr %[[AT]][8]
    // CHECK: llvm.store %{{.*}}, %[[RIGHT]] {alignment = 8 : i64} : vector<2xf32>
    // CHECK: %[[LAST:.*]] = llvm.getelementptr %[[BELOW]][8]
    // CHECK: llvm.store %{{.*}}, %[[LAST]] {alignment = 8 : i64} : vector<2xf32>
    // CHECK-NEXT: gpu.return
    "smem.store"(%c, %m) : (!c, memref<64x16xf32>) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @converted
  gpu.func @converted(%v: f32, %b: memref<64x16xbf16>, %h: memref<64x16xf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = "smem.fill"(%v) : (f32) -> !c
    // CHECK: %[[PAIR:.*]] = vector.from_elements %{{.*}}, %{{.*}} : vector<2xf32>
    // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[PAIR]] : vector<2xf32> to vector<2xbf16>
    // CHECK-NEXT: llvm.store %[[NARROW]], %{{.*}} {alignment = 4 : i64} : vector<2xbf16>, !llvm.ptr<1>
    "smem.store"(%c, %b) : (!c, memref<64x16xbf16>) -> ()
    // CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xf16>
    // CHECK-NEXT: llvm.store %{{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<1>
    "smem.store"(%c, %h) : (!c, memref<64x16xf16>) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @dynamic_rows
  gpu.func @dynamic_rows(%v: f32, %m: memref<64x16xf32, strided<[?, 1], offset: ?>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = "smem.fill"(%v) : (f32) -> !c
    // CHECK: %[[PITCH:.*]] = arith.index_cast %{{.*}}#0 : index to i64
    // CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    // CHECK: %[[C8:.*]] = arith.constant 8 : i64
    // CHECK-NEXT: %[[ROWS:.*]] = arith.muli %[[PITCH]], %[[C8]] : i64
    // CHECK-NEXT: llvm.getelementptr %[[AT]][%[[ROWS]]]
    "smem.store"(%c, %m) : (!c, memref<64x16xf32, strided<[?, 1], offset: ?>>) -> ()
    gpu.return
  }

  // In a column-major matrix, adjacent columns are stored one by one: 16 elements of 2 bytes.
  // CHECK-LABEL: gpu.func @column_major
  gpu.func @column_major(%v: f32, %m: memref<64x16xbf16, strided<[1, 64]>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = "smem.fill"(%v) : (f32) -> !c
    // CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
    // CHECK: arith.truncf %{{.*}} : vector<2xf32> to vector<2xbf16>
    // CHECK: llvm.store %{{.*}}, %[[AT]] {alignment = 2 : i64} : bf16, !llvm.ptr<1>
    // CHECK-NEXT: %[[RIGHT:.*]] = llvm.getelementptr %[[AT]][64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, bf16
    // CHECK: llvm.store %{{.*}}, %[[RIGHT]] {alignment = 2 : i64}
    // CHECK-COUNT-6: llvm.store {{.*}} : bf16, !llvm.ptr<1>
    // CHECK-NOT: llvm.store
    // CHECK: gpu.return
    "smem.store"(%c, %m) : (!c, memref<64x16xbf16, strided<[1, 64]>>) -> ()
    gpu.return
  }

  // The second block of rows begins 64 rows of 8 elements further.
  // CHECK-LABEL: gpu.func @two_blocks
  gpu.func @two_blocks(%v: f32, %m: memref<128x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<128x8xf32>, #smem.accumulator>
    // CHECK: %[[AT:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    // CHECK: llvm.store
    // CHECK: llvm.getelementptr %[[AT]][64]
    // CHECK: llvm.store
    // CHECK: llvm.getelementptr %[[AT]][512]
    // CHECK: llvm.store
    // CHECK: llvm.getelementptr %[[AT]][576]
    // CHECK: llvm.store
    "smem.store"(%c, %m) : (!smem.fragment<tensor<128x8xf32>, #smem.accumulator>, memref<128x8xf32>) -> ()
    gpu.return
  }
}

// A dynamic number of rows: each of a thread's rows is stored in a branch of its own.
!c16 = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!rows = memref<?x16xf32, strided<[16, 1]>>
// CHECK: func.func @rows(%[[C:.*]]: !llvm.struct<{{.*}}>, %[[M:.*]]: memref<?x16xf32, strided<[16, 1]>>)
func.func @rows(%c: !c16, %m: !rows) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[DIM:.*]] = memref.dim %[[M]], %c0
  // CHECK: %[[MOST:.*]] = arith.minsi %[[DIM]], %c2147483647
  // CHECK: %[[COUNT:.*]] = arith.index_cast %[[MOST]] : index to i32
  // CHECK: %[[IS_THERE:.*]] = arith.cmpi slt, %[[ROW:.*]], %[[COUNT]] : i32
  // CHECK: scf.if %[[IS_THERE]] {
  // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  // CHECK: }
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c8_i32 : i32
  // CHECK: %[[IS_THERE_TOO:.*]] = arith.cmpi slt, %[[NEXT]], %[[COUNT]] : i32
  // CHECK: scf.if %[[IS_THERE_TOO]] {
  // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  // CHECK: }
  "smem.store"(%c, %m) : (!c16, !rows) -> ()
  return
}

// A vector of a dynamic extent gets the elements that it has.
!row = !smem.fragment<tensor<64xf32>, #smem.slice<1>>
// CHECK: func.func @elements(%{{.*}}, %[[V:.*]]: memref<?xf32>)
func.func @elements(%c: !row, %v: memref<?xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[DIM:.*]] = memref.dim %[[V]], %c0
  // CHECK: %[[COUNT:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: scf.if %{{.*}} {
  // CHECK: arith.cmpi slt, %[[ROW:.*]], %[[COUNT]] : i32
  // CHECK: scf.if %{{.*}} {
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c8_i32 : i32
  // CHECK: arith.cmpi slt, %[[NEXT]], %[[COUNT]] : i32
  // CHECK: scf.if %{{.*}} {
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
  "smem.store"(%c, %v) : (!row, memref<?xf32>) -> ()
  return
}

// Rows in two dimensions: row i is row i % 16 of matrix i / 16, if that has it.
!stack = memref<4x?x16xf32, strided<[?, 16, 1]>>
// CHECK: func.func @stack(%{{.*}}, %[[M:.*]]: memref<4x?x16xf32, strided<[?, 16, 1]>>)
func.func @stack(%c: !c16, %m: !stack) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: memref.dim %[[M]], %c1
  // CHECK: %[[COUNT:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[MATRIX:.*]] = arith.divui %[[ROW:.*]], %c16_i32{{.*}} : i32
  // CHECK: %[[PLACE:.*]] = arith.remui %[[ROW]], %c16_i32{{.*}} : i32
  // CHECK: %[[MATRIX64:.*]] = arith.extui %[[MATRIX]]
  // CHECK: arith.muli %[[MATRIX64]], %{{.*}} : i64
  // CHECK: %[[PLACE64:.*]] = arith.extui %[[PLACE]]
  // CHECK: arith.muli %[[PLACE64]], %c16_i64{{.*}} : i64
  // CHECK: %[[OWN:.*]] = arith.remui %[[ROW]], %c16_i32{{.*}} : i32
  // CHECK: %[[IS_THERE:.*]] = arith.cmpi slt, %[[OWN]], %[[COUNT]] : i32
  // CHECK: scf.if %[[IS_THERE]] {
  // CHECK-COUNT-2: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  // CHECK: }
  // CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c8_i32{{.*}} : i32
  // CHECK: arith.divui %[[NEXT]], %c16_i32
  "smem.store"(%c, %m) : (!c16, !stack) -> ()
  return
}

// Elements of a slice in the rows of a matrix.
// CHECK: func.func @elements_of_rows
func.func @elements_of_rows(%c: !row, %v: memref<8x8xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: arith.divui %{{.*}}, %c8_i32{{.*}} : i32
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
  // CHECK: llvm.store %{{.*}} : f32, !llvm.ptr<1>
  "smem.store"(%c, %v) : (!row, memref<8x8xf32>) -> ()
  return
}
