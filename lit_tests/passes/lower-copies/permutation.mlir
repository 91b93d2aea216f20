// A permutation of indices changes addresses only: the bytes keep their order, so the asynchronous copy supports it,
// too. `relayout` has no effect if the tile and the source have the same contiguous dimension.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!m = memref<16x64xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x16xbf16>, #smem.swizzle<"128B", "column-major">>

// CHECK-LABEL: func.func @exchanged
func.func @exchanged(%m: !m) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[T:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[PITCH:.*]] = arith.index_cast %strides{{.*}} : index to i64
  // CHECK: %[[LINE:.*]] = arith.divui %[[T]], %{{.*}} : i32
  // CHECK: %[[VECTOR:.*]] = arith.remui %[[T]], %{{.*}} : i32
  // CHECK: %[[WIDE:.*]] = arith.extui %[[LINE]] : i32 to i64
  // CHECK-NEXT: arith.muli %[[WIDE]], %[[PITCH]] : i64
  // CHECK: nvvm.cp.async.shared.global
  // CHECK-NOT: nvvm.cp.async
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  "smem.copy_async"(%m, %t) {permutation = array<i64: 1, 0>} : (!m, !t) -> ()
  // CHECK: llvm.load %{{.*}} -> vector<4xi32>
  // CHECK-NEXT: llvm.store
  // CHECK-NOT: llvm.load
  // CHECK-NOT: nvvm.prmt
  // CHECK: return
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>, relayout} : (!m, !t) -> ()
  return
}
