// RUN: smem-opt %s --smem-allocate --split-input-file --verify-diagnostics

func.func @no_layout() {
  // expected-error@+1 {{'smem.alloc' op has no layout; run smem-assign-layouts before}}
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// -----

gpu.module @kernels {
  gpu.func @shared_with_the_host() kernel {
    %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
    // expected-error@+1 {{'gpu.dynamic_shared_memory' op shares its bytes with the kernel's tiles; reserve them with smem-allocate{reserved-bytes=...}}}
    %own = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    gpu.return
  }
}

// -----

// 228 KiB; a CTA has 227.

// expected-error@+1 {{'func.func' op needs 233472 bytes of shared memory for its tiles, but a CTA has 232448}}
func.func @too_much() {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<912x128xbf16>, #smem.swizzle<"128B", "row-major">>
  return
}

// -----

// expected-error@+1 {{'smem.alloc' op is in no function; shared memory belongs to a kernel}}
%t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

// -----

gpu.module @kernels {
  // expected-error@+1 {{'smem.alloc' op is in no function; shared memory belongs to a kernel}}
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
}

// -----

// expected-error@+1 {{'smem.create_pipeline' op is in no function; shared memory belongs to a kernel}}
%r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
