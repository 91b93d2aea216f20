// RUN: smem-compile %s --emit=nvvm -o - --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: smem-compile %s --emit=nvvm -o - --max-swizzle=64 | FileCheck %s --check-prefix=NARROW
// RUN: %{refused} smem-compile %s --emit=nvvm -o - --max-swizzle=48 | FileCheck %s --check-prefix=WIDTH
// RUN: %{refused} smem-compile %s --emit=nvvm -o - --arch=sm_80 | FileCheck %s --check-prefix=ARCH
// RUN: %{refused} smem-compile %s --emit=sass | FileCheck %s --check-prefix=STAGE
// RUN: %{refused} smem-compile --emit=ptx | FileCheck %s --check-prefix=NOTHING
// RUN: %{refused} smem-compile - --emit=ptx < %s | FileCheck %s --check-prefix=NAMELESS

// EXPLAIN: options.mlir:[[LINE:[0-9]+]]:10: remark: layout Swizzle<3,4,3> o (64,64):(64,1) was chosen
// EXPLAIN: options.mlir:[[MMA:[0-9]+]]:10: remark: A: 0x4000004000010000

// Swizzle 64B: mode 2 is bit 63.
// NARROW: arith.constant -9223371899415756800 : i64

// WIDTH: smem-compile: error: --max-swizzle: no swizzle is 48 bytes wide; expected 0, 32, 64 or 128
// ARCH: smem-compile: error: no code is generated for 'sm_80'; expected sm_90a or sm_100a or sm_103a
// STAGE: smem-compile: error: argument --emit: invalid choice: 'sass'
// NOTHING: smem-compile: error: the following arguments are required: file
// NAMELESS: smem-compile: error: the input has no name to derive the output's from; give -o
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
gpu.module @kernels {
  gpu.func @kernel(%m: memref<64x64xbf16>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = "smem.alloc"() : () -> !t
    "smem.copy"(%m, %a) : (memref<64x64xbf16>, !t) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %a) : (!t, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
    gpu.return
  }
}
