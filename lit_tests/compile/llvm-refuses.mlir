// LLVM checks the constraints of inline assembly; what it says is passed on.

// RUN: not smem-compile %s --emit=ptx -o - 2>&1 | FileCheck %s

// CHECK-NOT: Traceback
// CHECK: smem-compile: error: LLVM refuses the module: {{.*}}
// CHECK: error: number of input constraints does not match number of parameters
gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xf32>) kernel {
    llvm.inline_asm has_side_effects "", "no constraint" : () -> ()
    gpu.return
  }
}
