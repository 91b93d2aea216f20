// RUN: %{refused} smem-compile %s --emit=nvvm -o - | FileCheck %s

// CHECK: smem-compile: error: the gpu.module holds no kernel: no gpu.func is marked `kernel`
gpu.module @kernels {
  gpu.func @helper() {
    gpu.return
  }
}
