// The manifest states how a host passes an argument; this argument has no strides.

// RUN: %{refused} smem-compile %s --emit=nvvm -o - | FileCheck %s

// CHECK: error: {{.*}}takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<8x8xf32, affine_map
gpu.module @kernels {
  gpu.func @kernel(%m: memref<8x8xf32, affine_map<(i, j) -> (i floordiv 8, j, i mod 8)>>) kernel {
    gpu.return
  }
}
