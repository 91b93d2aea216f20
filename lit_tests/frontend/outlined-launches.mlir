// Kernels that upstream outlines from a function of the host: two modules, each with TMA, lowered with their launches.

// RUN: smem-opt %s --pass-pipeline='builtin.module(gpu-kernel-outlining,smem-to-nvvm,gpu.module(canonicalize,cse,expand-strided-metadata,lower-affine,convert-scf-to-cf,convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts),smem-lower-launches)' | FileCheck %s

!tile = !smem.tile<tensor<64x64xbf16>, #smem.auto>

// CHECK-LABEL: func.func @twice
// CHECK: llvm.call @mgpuTensorMapEncodeTiled
// CHECK: gpu.launch_func @first::@first blocks in {{.*}} dynamic_shared_memory_size %{{.*}} args({{.*}} : memref<128x64xbf16>, %{{.*}} : !llvm.array<16 x i64>)
// CHECK: llvm.call @mgpuTensorMapEncodeTiled
// CHECK: gpu.launch_func @second::@second blocks in {{.*}} dynamic_shared_memory_size %{{.*}} args({{.*}} : memref<128x64xbf16>, %{{.*}} : !llvm.array<16 x i64>)
// CHECK: llvm.func @first
// CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
// CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta
// CHECK: llvm.func @second
// CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
module {
  func.func @twice(%x: memref<128x64xbf16>, %y: memref<128x64xbf16>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) module(@first) function(@first) {
      %c0 = arith.constant 0 : index
      %t = "smem.alloc"() : () -> !tile
      %v = memref.subview %x[0, 0] [64, 64] [1, 1] : memref<128x64xbf16> to memref<64x64xbf16, strided<[64, 1]>>
      "smem.copy"(%v, %t) : (memref<64x64xbf16, strided<[64, 1]>>, !tile) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier
      "smem.elect"() ({
        "smem.tma_store"(%t, %y, %c0, %c0) : (!tile, memref<128x64xbf16>, index, index) -> ()
        "smem.tma_commit"() : () -> ()
        "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
      }) {scope = "cta"} : () -> ()
      gpu.terminator
    }
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) module(@second) function(@second) {
      %c0 = arith.constant 0 : index
      %t = "smem.alloc"() : () -> !tile
      %v = memref.subview %y[0, 0] [64, 64] [1, 1] : memref<128x64xbf16> to memref<64x64xbf16, strided<[64, 1]>>
      "smem.copy"(%v, %t) : (memref<64x64xbf16, strided<[64, 1]>>, !tile) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier
      "smem.elect"() ({
        "smem.tma_store"(%t, %x, %c0, %c0) : (!tile, memref<128x64xbf16>, index, index) -> ()
        "smem.tma_commit"() : () -> ()
        "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
      }) {scope = "cta"} : () -> ()
      gpu.terminator
    }
    return
  }
}
