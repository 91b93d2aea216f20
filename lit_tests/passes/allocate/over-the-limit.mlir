// The error lists the size and the offset of each tile, in the order of addresses.

// RUN: %{refused} smem-opt %s --smem-allocate | FileCheck %s
// RUN: %{refused} smem-opt %s --smem-allocate=reserved-bytes=4096 | FileCheck %s --check-prefix=RESERVED
// RUN: %{refused} smem-opt %s --smem-allocate=max-bytes=65536 | FileCheck %s --check-prefix=FEWER
// RUN: smem-opt %s --smem-allocate=max-bytes=294912 | FileCheck %s --check-prefix=MORE

gpu.module @kernels {
  // CHECK: over-the-limit.mlir:[[LINE:[0-9]+]]:3: error: 'gpu.func' op needs 294912 bytes of shared memory for its tiles, but a CTA has 232448
  // CHECK-NEXT: 196608 bytes at 0: !smem.tile<tensor<4x64x384xbf16>, #smem.swizzle<"128B", "row-major">> at {{[0-9]+}}:10
  // CHECK-NEXT: 98304 bytes at 196608: !smem.tile<tensor<4x192x64xbf16>, #smem.swizzle<"128B", "row-major">> at {{[0-9]+}}:10
  // CHECK-NEXT: gpu.func @too_much
  // RESERVED: needs 299008 bytes of shared memory for its tiles and the reserved bytes, but a CTA has 232448
  // RESERVED-NEXT: 196608 bytes at 4096
  // FEWER: needs 294912 bytes of shared memory for its tiles, but a CTA has 65536
  // MORE: smem.shared_bytes = 294912 : i32
  gpu.func @too_much() kernel {
    %a = "smem.alloc"() : () -> !smem.tile<tensor<4x192x64xbf16>, #smem.swizzle<"128B", "row-major">>
    %b = "smem.alloc"() : () -> !smem.tile<tensor<4x64x384xbf16>, #smem.swizzle<"128B", "row-major">>
    gpu.return
  }
}
