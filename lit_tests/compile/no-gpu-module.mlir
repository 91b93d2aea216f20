// RUN: %{refused} smem-compile %s --emit=nvvm -o - | FileCheck %s

// CHECK: smem-compile: error: expected one gpu.module that holds the kernels, found 0
func.func @host() {
  return
}
