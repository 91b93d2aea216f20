// Copies to tiles of tf32, which round, and of i1, of which memory holds eight in a byte.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

// CHECK-LABEL: func.func @rounded
func.func @rounded(%m: memref<64x32xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[V:.*]] = llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
  // CHECK-NEXT: %[[F:.*]] = llvm.bitcast %[[V]] : vector<4xi32> to vector<4xf32>
  // CHECK-NEXT: %[[X:.*]] = vector.extract %[[F]][0] : f32 from vector<4xf32>
  // CHECK-NEXT: nvvm.convert.float.to.tf32 %[[X]] {rnd = #nvvm.fp_rnd_mode<rna>}
  // CHECK: %[[R:.*]] = vector.from_elements {{.*}} : vector<4xi32>
  // CHECK-NEXT: llvm.store %[[R]]
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<64x32xtf32>, #smem.swizzle<"128B", "row-major">>
  "smem.copy"(%m, %t) : (memref<64x32xf32>, !smem.tile<tensor<64x32xtf32>, #smem.swizzle<"128B", "row-major">>) -> ()
  return
}

// A tile of f32 is not rounded.
// CHECK-LABEL: func.func @as_it_is
func.func @as_it_is(%m: memref<64x32xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK-NOT: nvvm.convert
  // CHECK: llvm.store
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<64x32xf32>, #smem.swizzle<"128B", "row-major">>
  "smem.copy"(%m, %t) : (memref<64x32xf32>, !smem.tile<tensor<64x32xf32>, #smem.swizzle<"128B", "row-major">>) -> ()
  return
}

// Element offsets are divided by 8 for byte offsets, both in memory and in the tile.
// CHECK-LABEL: func.func @bits
func.func @bits(%m: memref<64x32xi8>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[C128:.*]] = arith.constant 128 : i32
  // CHECK-NEXT: %[[ALONG:.*]] = arith.muli %{{.*}}, %[[C128]] : i32
  // CHECK: %[[C8:.*]] = arith.constant 8 : i32
  // CHECK: %[[BYTES:.*]] = arith.divui %[[ALONG]], %{{.*}} : i32
  // CHECK: %[[WIDE:.*]] = arith.extui %[[BYTES]] : i32 to i64
  // CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<64x256xi1>, #smem.swizzle<"32B", "row-major">>
  "smem.copy"(%m, %t) : (memref<64x32xi8>, !smem.tile<tensor<64x256xi1>, #smem.swizzle<"32B", "row-major">>) -> ()
  return
}

// Signed and unsigned bytes are bytes.
// CHECK-LABEL: func.func @bytes
func.func @bytes(%m: memref<64x32xi8>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: nvvm.cp.async.shared.global
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<64x32xui8>, #smem.swizzle<"32B", "row-major">>
  "smem.copy_async"(%m, %t) : (memref<64x32xi8>, !smem.tile<tensor<64x32xui8>, #smem.swizzle<"32B", "row-major">>) -> ()
  return
}
