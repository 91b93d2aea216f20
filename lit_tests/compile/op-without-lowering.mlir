// An op that upstream does not lower is an error at its location: its translation would crash.

// RUN: %{refused} smem-compile %s --emit=llvm -o %t.ll | FileCheck %s

// CHECK: op-without-lowering.mlir:9:10: error: 'tensor.empty' op has no lowering to LLVM
gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xf32>) kernel {
    %c0 = arith.constant 0 : index
    %t = tensor.empty() : tensor<4xf32>
    %v = tensor.extract %t[%c0] : tensor<4xf32>
    memref.store %v, %m[%c0] : memref<1xf32>
    gpu.return
  }
}
