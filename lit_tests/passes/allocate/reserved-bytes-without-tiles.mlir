// A kernel without tiles that views its dynamic memory needs the reserved bytes, too.

// RUN: smem-opt %s --smem-allocate=reserved-bytes=100 | FileCheck %s
// RUN: smem-opt %s --smem-allocate | FileCheck %s --check-prefix=NOTHING
// RUN: %{refused} smem-opt %s --smem-allocate=reserved-bytes=232449 | FileCheck %s --check-prefix=LIMIT

gpu.module @kernels {
  // CHECK: gpu.func @views
  // CHECK-SAME: smem.shared_bytes = 100 : i32
  // NOTHING: gpu.func @views() kernel {
  // LIMIT: error: 'gpu.func' op needs 232449 bytes of shared memory for its tiles and the reserved bytes, but a CTA has 232448
  gpu.func @views() kernel {
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
  // CHECK: gpu.func @nothing() kernel {
  gpu.func @nothing() kernel {
    gpu.return
  }
}
