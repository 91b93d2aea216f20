// Loads and stores that need equal tensor maps of an argument share one parameter.

// RUN: smem-opt %s --smem-assign-layouts --smem-allocate --smem-lower-copies | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!u = !smem.tile<tensor<32x64xbf16>, #smem.auto>
gpu.module @kernels {
  // CHECK: gpu.func @maps
  // CHECK-SAME: %[[A:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>
  // CHECK-SAME: %[[B:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 1 : i64, box = array<i64: 64, 64>
  // CHECK-SAME: %[[C:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 0 : i64, box = array<i64: 32, 64>
  // CHECK-NOT: tensor_map
  gpu.func @maps(%m: memref<?x?xbf16>, %n: memref<?x?xbf16>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: prefetch tensormap, %[[A]]
    // CHECK: prefetch tensormap, %[[B]]
    // CHECK: prefetch tensormap, %[[C]]
    // CHECK-NOT: prefetch
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = "smem.alloc"() : () -> !t
    %u = "smem.alloc"() : () -> !u
    %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]]
    "smem.tma_load"(%m, %t, %r, %c0, %c0, %c0) : (memref<?x?xbf16>, !t, !smem.pipeline, index, index, index) -> ()
    // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[B]]
    "smem.tma_load"(%n, %t, %r, %c1, %c0, %c0) : (memref<?x?xbf16>, !t, !smem.pipeline, index, index, index) -> ()
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[A]]
    "smem.tma_store"(%t, %m, %c0, %c0) : (!t, memref<?x?xbf16>, index, index) -> ()
    // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[C]]
    "smem.tma_store"(%u, %m, %c0, %c0) : (!u, memref<?x?xbf16>, index, index) -> ()
    gpu.return
  }
}
