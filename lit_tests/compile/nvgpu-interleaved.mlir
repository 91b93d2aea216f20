// A tensor map of upstream's that describes no matrix.

// RUN: %{refused} smem-compile %s --emit=nvvm -o %t.mlir | FileCheck %s

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = interleave_16b>
gpu.module @kernels {
  // CHECK: nvgpu-interleaved.mlir:8:3: error: 'gpu.func' op takes argument 0, a tensor map with interleave = interleave_16b; expected none, the format of matrices
  gpu.func @fetch(%A: !map) kernel {
    nvgpu.tma.prefetch.descriptor %A : !map
    gpu.return
  }
}
