// Ops that only name tiles are erased. Dynamic shared memory has one symbol, which all kernels use.

// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

!t = !smem.tile<tensor<2x16x64xbf16>, #smem.swizzle<"128B", "row-major">>
!s = !smem.tile<tensor<16x64xbf16>, #smem.auto>
!m = memref<16x64xbf16>

// CHECK-COUNT-1: llvm.mlir.global external @__smem_dynamic
// CHECK-NOT: llvm.mlir.global
// CHECK-NOT: "smem.
gpu.module @kernels {
  gpu.func @one(%m: !m, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
    %s = "smem.stage"(%t, %i) : (!t, index) -> !s
    %p = "smem.subtile"(%s) {static_offsets = array<i64: 0, 0>} : (!s) -> !s
    "smem.copy"(%m, %p) : (!m, !s) -> ()
    gpu.return
  }
  gpu.func @two(%m: !m, %w: memref<2048xi8, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>
    %v = "smem.view"(%w) : (memref<2048xi8, #gpu.address_space<workgroup>>) -> !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>
    "smem.copy"(%m, %t) : (!m, !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> ()
    gpu.return
  }
}
