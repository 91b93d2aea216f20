// An intrinsic of another target is an error at its op.

// RUN: %{refused} smem-compile %s --emit=ptx -o - | FileCheck %s
// CHECK: intrinsics.mlir:{{[0-9]+}}:10: error: 'llvm.call_intrinsic' op calls 'llvm.amdgcn.workitem.id.x', an intrinsic of amdgcn; expected one of nvvm, or of all targets

// An unknown intrinsic is reported by MLIR.
// RUN: sed 's/llvm.amdgcn.workitem.id.x/llvm.foo.bar/' %s | %{refused} smem-compile - --emit=llvm -o - | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: <stdin>:{{[0-9]+}}:10: error: could not find LLVM intrinsic: "llvm.foo.bar"

// RUN: sed 's/llvm.amdgcn.workitem.id.x/llvm.nvvm.read.ptx.sreg.tid.x/' %s | smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=OURS
// OURS: %tid.x

gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xi32>) kernel {
    %zero = arith.constant 0 : index
    %x = llvm.call_intrinsic "llvm.amdgcn.workitem.id.x"() : () -> i32
    memref.store %x, %m[%zero] : memref<1xi32>
    gpu.return
  }
}
