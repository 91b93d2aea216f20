// REQUIRES: ptxas

// The message of ptxas is passed on if it rejects the code; no file is left.

// RUN: rm -rf %t && mkdir %t
// RUN: %{refused} smem-compile %s -o %t/out.cubin | FileCheck %s
// RUN: ls %t | diff %{empty} -

// CHECK: smem-compile: error: ptxas refuses the PTX:
// CHECK: error {{.*}}Unknown modifier
gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xf32>) kernel {
    llvm.inline_asm has_side_effects "no.such.instruction;", "" : () -> ()
    gpu.return
  }
}
