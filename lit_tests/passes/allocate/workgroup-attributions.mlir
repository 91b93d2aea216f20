// The workgroup buffers of a gpu.func are part of the same 227 KiB.

// RUN: smem-opt %s --smem-allocate --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<896x128xbf16>, #smem.swizzle<"128B", "row-major">>
gpu.module @kernels {
  // 224 KiB and 3 KiB: exactly the limit.
  gpu.func @fits() workgroup(%w: memref<768xf32, #gpu.address_space<workgroup>>) kernel {
    %t = "smem.alloc"() : () -> !t
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<896x128xbf16>, #smem.swizzle<"128B", "row-major">>
gpu.module @kernels {
  // expected-error@+1 {{'gpu.func' op needs 229376 bytes of shared memory for its tiles, but a CTA has 229372}}
  gpu.func @four_bytes_too_much(%m: memref<4xf32>) workgroup(%v: memref<768xf32, #gpu.address_space<workgroup>>, %w: memref<4xi8, #gpu.address_space<workgroup>>) kernel {
    %t = "smem.alloc"() : () -> !t
    gpu.return
  }
}

// -----

// Private buffers are registers.

!t = !smem.tile<tensor<896x128xbf16>, #smem.swizzle<"128B", "row-major">>
gpu.module @kernels {
  gpu.func @private() private(%p: memref<4096xf32, #gpu.address_space<private>>) kernel {
    %t = "smem.alloc"() : () -> !t
    gpu.return
  }
}

// -----

// Their element types need not be those of tensor cores: mbarriers, indices, vectors. 3 KiB and 8 bytes.

!t = !smem.tile<tensor<896x128xbf16>, #smem.swizzle<"128B", "row-major">>
gpu.module @kernels {
  // expected-error@+1 {{but a CTA has 229368}}
  gpu.func @any_type(%m: memref<4xf32>) workgroup(%v: memref<192xvector<4xf32>, #gpu.address_space<workgroup>>, %w: memref<1xi64, #gpu.address_space<workgroup>>) kernel {
    %t = "smem.alloc"() : () -> !t
    gpu.return
  }
}
