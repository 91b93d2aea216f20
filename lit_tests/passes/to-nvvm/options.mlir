// The options of the pipeline are passed to its passes.

// RUN: smem-opt %s --smem-to-nvvm | FileCheck %s --check-prefix=PLAIN
// RUN: smem-opt %s --smem-to-nvvm='max-swizzle=32 reserved-bytes=4096' | FileCheck %s --check-prefix=OPTIONS
// RUN: smem-opt %s --smem-to-nvvm=explain --verify-diagnostics
// RUN: %{refused} smem-opt %s --smem-to-nvvm=max-bytes=8192 | FileCheck %s --check-prefix=LIMIT

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
gpu.module @kernels {
  // PLAIN: smem.shared_bytes = 16384 : i32
  // PLAIN: arith.constant 4611686293305360384 : i64
  // OPTIONS: smem.shared_bytes = 20480 : i32
  // Swizzle 32B, SBO 256: 0xc000001000010000.
  // OPTIONS: arith.constant -4611685949707845632 : i64
  // LIMIT: needs 16384 bytes of shared memory for its tiles, but a CTA has 8192
  gpu.func @kernel(%m: memref<64x64xbf16>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-remark@+1 {{layout Swizzle<3,4,3> o (64,64):(64,1) was chosen}}
    %a = "smem.alloc"() : () -> !t
    // expected-remark@+1 {{layout Swizzle<3,4,3> o (64,64):(64,1) was chosen}}
    %b = "smem.alloc"() : () -> !t
    "smem.copy"(%m, %a) : (memref<64x64xbf16>, !t) -> ()
    "smem.copy"(%m, %b) : (memref<64x64xbf16>, !t) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    // expected-remark@+2 {{A: 0x4000004000010000}}
    // expected-remark@+1 {{B: 0x4000004000000000}}
    %d = "smem.mma"(%a, %b) : (!t, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
    gpu.return
  }
}
