// Bytes at the start of dynamic shared memory that the host compiler reserves. A tile begins at the next multiple of
// its alignment; a smaller tile is placed in the gap before it.

// RUN: smem-opt %s --smem-allocate=reserved-bytes=100 | FileCheck %s
// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-allocate{reserved-bytes=100})' | FileCheck %s

gpu.module @kernels {
  // CHECK: gpu.func @own_bytes
  // CHECK-SAME: smem.shared_bytes = 9216 : i32
  gpu.func @own_bytes() kernel {
    // CHECK-NEXT: gpu.dynamic_shared_memory
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    // CHECK-NEXT: {offset = 1024 : i64} : () -> !smem.tile<tensor<64x64xbf16>
    %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
    // CHECK-NEXT: {offset = 112 : i64} : () -> !smem.tile<tensor<16x8xbf16>
    %1 = "smem.alloc"() : () -> !smem.tile<tensor<16x8xbf16>, #smem.swizzle<"none", "row-major">>
    gpu.return
  }

  // A kernel without tiles has only those bytes.
  // CHECK: gpu.func @nothing_else
  // CHECK-SAME: smem.shared_bytes = 100 : i32
  gpu.func @nothing_else() kernel {
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}
