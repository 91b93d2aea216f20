// Copies of matrices of dynamic extents: the tile is 0 where they have no element.

// RUN: smem-opt %s --smem-lower-copies --split-input-file | FileCheck %s

!t = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>

// Rows that the matrix does not have are 0 bytes of it; so are columns, by two bytes each.
// CHECK-LABEL: gpu.func @asynchronous
// CHECK: %[[M:.*]] = arith.minsi %{{.*}} : index
// CHECK: %[[LINES:.*]] = arith.index_cast %[[M]] : index to i32
// CHECK: %[[N:.*]] = arith.minsi %{{.*}} : index
// CHECK: %[[ALONG:.*]] = arith.index_cast %[[N]] : index to i32
// CHECK: %[[ROOM:.*]] = arith.subi %[[ALONG]], %{{.*}} : i32
// CHECK: %[[BYTES:.*]] = arith.muli %[[ROOM]], %{{.*}} : i32
// CHECK: %[[LEAST:.*]] = arith.minsi %[[BYTES]], %{{.*}} : i32
// CHECK: %[[SOME:.*]] = arith.maxsi %[[LEAST]], %{{.*}} : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %[[LINES]] : i32
// CHECK: %[[COUNT:.*]] = arith.select %[[INSIDE]], %[[SOME]], %{{.*}} : i32
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg, %[[COUNT]] : !llvm.ptr<3>, !llvm.ptr<1>, i32
gpu.module @kernels {
  gpu.func @asynchronous(%m: memref<?x?xbf16, strided<[?, 1], offset: ?>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.copy_async"(%m, %t) : (memref<?x?xbf16, strided<[?, 1], offset: ?>>, !t) -> ()
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>

// A row that the matrix has is whole.
// CHECK-LABEL: gpu.func @rows
// CHECK: scf.if %{{.*}} -> (vector<4xi32>)
// CHECK-NEXT: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: else
// CHECK-NEXT: llvm.mlir.zero : vector<4xi32>
gpu.module @kernels {
  gpu.func @rows(%m: memref<?x64xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.copy"(%m, %t) : (memref<?x64xbf16>, !t) -> ()
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>

// Where a row ends within 16 bytes, its elements are loaded one by one.
// CHECK-LABEL: gpu.func @columns
// CHECK: scf.if %{{.*}} -> (vector<4xi32>)
// CHECK-NEXT: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK: else
// CHECK-COUNT-8: scf.if %{{.*}} -> (i16)
// CHECK: vector.from_elements {{.*}} : vector<8xi16>
gpu.module @kernels {
  gpu.func @columns(%m: memref<16x?xbf16, strided<[64, 1]>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    "smem.copy"(%m, %t) : (memref<16x?xbf16, strided<[64, 1]>>, !t) -> ()
    gpu.return
  }
}
