// Upstream's passes and ours, in order, at any depth of ops: sums are folded in the pipeline's ops only.

// RUN: smem-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(canonicalize)),smem-assign-layouts)' | FileCheck %s --check-prefixes=BOTH,KERNEL
// RUN: smem-opt %s --pass-pipeline='builtin.module(func.func(canonicalize),smem-assign-layouts)' | FileCheck %s --check-prefixes=BOTH,HOST
// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-assign-layouts,any(canonicalize))' | FileCheck %s --check-prefixes=BOTH,ANY
// RUN: smem-opt %s --pass-pipeline=' builtin.module( gpu.module( gpu.func( canonicalize , cse ) ) , smem-assign-layouts{} ) ' | FileCheck %s --check-prefixes=BOTH,KERNEL
// RUN: smem-opt %s --canonicalize --smem-assign-layouts | FileCheck %s --check-prefixes=BOTH,ANY

// BOTH: gpu.func @kernel
// BOTH: #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">
// KERNEL-NOT: arith.addi
// HOST: arith.addi
// ANY-NOT: arith.addi
// BOTH: func.func @host
// KERNEL: arith.addi
// HOST-NOT: arith.addi
// ANY-NOT: arith.addi
// BOTH: return
gpu.module @kernels {
  gpu.func @kernel(%m: memref<8xindex>) kernel {
    %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %sum = arith.addi %c1, %c2 : index
    memref.store %sum, %m[%c1] : memref<8xindex>
    gpu.return
  }
}
func.func @host() -> index {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %sum = arith.addi %c1, %c2 : index
  return %sum : index
}
