// 24 rows of 64 bytes are 96 vectors: the last 32 of 128 threads have none. 40 rows are 160 vectors: in the second
// round, only the first 32 threads have one.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @less_than_a_round
  gpu.func @less_than_a_round(%m: memref<24x32xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[THREAD:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[LEFT:.*]] = arith.constant 96 : i32
    // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %[[THREAD]], %[[LEFT]] : i32
    // CHECK-NEXT: scf.if %[[INSIDE]] {
    // CHECK-NEXT: llvm.load
    // CHECK-NEXT: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.return
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<24x32xbf16>, #smem.swizzle<"64B", "row-major">>
    "smem.copy"(%m, %t) : (memref<24x32xbf16>, !smem.tile<tensor<24x32xbf16>, #smem.swizzle<"64B", "row-major">>) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @more_than_a_round
  gpu.func @more_than_a_round(%m: memref<40x32xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[THREAD:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: nvvm.cp.async.shared.global
    // CHECK: %[[LEFT:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: %[[INSIDE:.*]] = arith.cmpi ult, %[[THREAD]], %[[LEFT]] : i32
    // CHECK-NEXT: scf.if %[[INSIDE]] {
    // CHECK-NEXT: nvvm.cp.async.shared.global
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.return
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<40x32xbf16>, #smem.swizzle<"64B", "row-major">>
    "smem.copy_async"(%m, %t) : (memref<40x32xbf16>, !smem.tile<tensor<40x32xbf16>, #smem.swizzle<"64B", "row-major">>) -> ()
    gpu.return
  }
}
