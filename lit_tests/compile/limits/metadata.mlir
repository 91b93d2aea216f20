// LLVM does not terminate on a value of this type.

// RUN: %{refused} smem-compile %s --emit=ptx -o - | FileCheck %s
// CHECK: metadata.mlir:{{[0-9]+}}:10: error: 'llvm.load' op has a value of type !llvm.metadata; GPUs have no !llvm.metadata

gpu.module @kernels {
  gpu.func @kernel(%p: !llvm.ptr) kernel {
    %x = llvm.load %p : !llvm.ptr -> !llvm.metadata
    gpu.return
  }
}
