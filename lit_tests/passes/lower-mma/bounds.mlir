// Loads and stores of matrices and vectors of dynamic extents.

// RUN: smem-opt %s --smem-lower-mma --split-input-file | FileCheck %s

// A pair of columns is loaded where the matrix has both, its elements one by one where it ends between;
// the number of columns is even, so that pairs are aligned.
// CHECK-LABEL: gpu.func @load
// CHECK: memref.dim
// CHECK: memref.dim
// CHECK: %[[ROW:.+]] = arith.cmpi slt
// CHECK: %[[COLUMN:.+]] = arith.cmpi slt
// CHECK: %[[INSIDE:.+]] = arith.andi %[[ROW]], %[[COLUMN]]
// CHECK: scf.if %[[INSIDE]] -> (vector<2xf32>)
// CHECK-NEXT: llvm.load {{.*}} {alignment = 8 : i64} : {{.*}} -> vector<2xf32>
// CHECK: else
// CHECK: scf.if %{{.+}} -> (f32)
// CHECK-NEXT: llvm.load {{.*}} {alignment = 4 : i64} : {{.*}} -> f32
// CHECK: else
// CHECK-NEXT: llvm.mlir.zero : f32
// CHECK: vector.from_elements
gpu.module @kernels {
  gpu.func @load(%m: memref<?x?xf32> {smem.shape = ["M", "N"]}, %o: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, smem.multiples = {N = 2}} {
    %x = "smem.load"(%m) : (memref<?x?xf32>) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
    "smem.store"(%x, %o) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, memref<64x8xf32>) -> ()
    gpu.return
  }
}

// -----

// Of another number of columns, elements are loaded one by one.
// CHECK-LABEL: gpu.func @any_columns
// CHECK-NOT: vector<2xf32>
// CHECK: scf.if %{{.+}} -> (f32)
// CHECK-NEXT: llvm.load {{.*}} {alignment = 4 : i64} : {{.*}} -> f32
// CHECK: else
// CHECK-NEXT: llvm.mlir.zero : f32
gpu.module @kernels {
  gpu.func @any_columns(%m: memref<?x?xf32>, %o: memref<64x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = "smem.load"(%m) : (memref<?x?xf32>) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
    "smem.store"(%x, %o) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, memref<64x8xf32>) -> ()
    gpu.return
  }
}

// -----

// Both numbers of several matrices and of their rows are dynamic: each has 16 rows of the fragment.
// CHECK-LABEL: gpu.func @matrices
// CHECK: %[[ROWS:.+]] = arith.minsi
// CHECK: %[[END:.+]] = arith.index_cast %[[ROWS]]
// CHECK: %[[MATRICES:.+]] = arith.minsi
// CHECK: %[[COUNT:.+]] = arith.index_cast %[[MATRICES]]
// CHECK: %[[MATRIX:.+]] = arith.cmpi slt, %{{.+}}, %[[COUNT]]
// CHECK: %[[ROW:.+]] = arith.cmpi slt, %{{.+}}, %[[END]]
// CHECK: %[[INSIDE:.+]] = arith.andi %[[MATRIX]], %[[ROW]]
// CHECK: scf.if %[[INSIDE]]
gpu.module @kernels {
  gpu.func @matrices(%o: memref<?x?x8xf32>, %zero: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = "smem.fill"(%zero) : (f32) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
    "smem.store"(%x, %o) {matrix_rows = 16} : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, memref<?x?x8xf32>) -> ()
    gpu.return
  }
}

// -----

// With a static number of columns, a row is loaded or 0.
// CHECK-LABEL: gpu.func @rows
// CHECK: scf.if %{{.+}} -> (vector<2xf32>)
// CHECK: else
// CHECK-NEXT: llvm.mlir.zero : vector<2xf32>
// CHECK: scf.if %{{.+}} -> (f32)
// CHECK-NEXT: llvm.load
// CHECK: else
// CHECK-NEXT: llvm.mlir.zero : f32
gpu.module @kernels {
  gpu.func @rows(%m: memref<?x8xf32>, %v: memref<?xf32>, %o: memref<64x8xf32>, %p: memref<64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = "smem.load"(%m) : (memref<?x8xf32>) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
    %s = "smem.load"(%v) : (memref<?xf32>) -> !smem.fragment<tensor<64xf32>, #smem.slice<1>>
    "smem.store"(%x, %o) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, memref<64x8xf32>) -> ()
    "smem.store"(%s, %p) : (!smem.fragment<tensor<64xf32>, #smem.slice<1>>, memref<64xf32>) -> ()
    gpu.return
  }
}

// -----

// Elements are stored in branches of their rows, and in those of their columns.
// CHECK-LABEL: gpu.func @store
// CHECK: scf.if
// CHECK: scf.if
// CHECK-NEXT: llvm.store {{.*}} {alignment = 4 : i64}
// CHECK: scf.if
// CHECK-NEXT: llvm.store {{.*}} {alignment = 4 : i64}
gpu.module @kernels {
  gpu.func @store(%o: memref<?x?xf32>, %zero: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = "smem.fill"(%zero) : (f32) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
    "smem.store"(%x, %o) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, memref<?x?xf32>) -> ()
    gpu.return
  }
}

// -----

// Rows of an odd stride, and a window from an odd column on: elements one by one.
// CHECK-LABEL: gpu.func @odd
// CHECK-NOT: alignment = 8
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @odd(%m: memref<64x9xf32>, %n: memref<64x16xf32>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %v = memref.subview %m[0, 0] [64, 8] [1, 1] : memref<64x9xf32> to memref<64x8xf32, strided<[9, 1]>>
    %w = memref.subview %n[0, %i] [64, 8] [1, 1] : memref<64x16xf32> to memref<64x8xf32, strided<[16, 1], offset: ?>>
    %x = "smem.load"(%v) : (memref<64x8xf32, strided<[9, 1]>>) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
    "smem.store"(%x, %w) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, memref<64x8xf32, strided<[16, 1], offset: ?>>) -> ()
    gpu.return
  }
}

// -----

// Pairs from an even column on.
// CHECK-LABEL: gpu.func @even
// CHECK: llvm.store {{.*}} {alignment = 8 : i64} : vector<2xf32>
gpu.module @kernels {
  gpu.func @even(%n: memref<64x16xf32>, %i: index, %zero: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : index
    %j = arith.muli %i, %c2 : index
    %w = memref.subview %n[0, %j] [64, 8] [1, 1] : memref<64x16xf32> to memref<64x8xf32, strided<[16, 1], offset: ?>>
    %x = "smem.fill"(%zero) : (f32) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
    "smem.store"(%x, %w) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>, memref<64x8xf32, strided<[16, 1], offset: ?>>) -> ()
    gpu.return
  }
}
