// Assembly without instructions is an error: MLIR's translation aborts on it.

// RUN: %{refused} smem-compile %s --emit=ptx -o - | FileCheck %s
// CHECK: inline-ptx.mlir:{{[0-9]+}}:5: error: 'nvvm.inline_ptx' op has no instructions; expected PTX, as in "bar.sync 1;"

// RUN: sed 's/ptx ""/ptx "bar.sync 1;"/' %s | smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=OURS
// OURS: bar.sync 1;

gpu.module @kernels {
  gpu.func @kernel() kernel {
    nvvm.inline_ptx ""
    gpu.return
  }
}
