// A cluster size that no architecture supports is an error at the kernel.

// RUN: %{refused} smem-compile %s --emit=ptx -o - | FileCheck %s
// CHECK: clusters.mlir:{{[0-9]+}}:3: error: 'gpu.func' op has clusters of 17x1x1 CTAs; expected 1 to 16 CTAs

gpu.module @kernels {
  gpu.func @kernel() kernel attributes {known_cluster_size = array<i32: 17, 1, 1>} {
    gpu.return
  }
}
