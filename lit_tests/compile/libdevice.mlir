// A function without an instruction is called from CUDA's libdevice and inlined; without the library it is an error.

// RUN: smem-compile %s --emit=llvm -o - | FileCheck %s --check-prefix=LLVM
// RUN: smem-compile %s --emit=ptx -o - | FileCheck %s
// RUN: %{refused} env MLIR_SMEM_LIBDEVICE=%t.absent smem-compile %s --emit=ptx -o %t.ptx | FileCheck %s --check-prefix=ABSENT

// ABSENT: libdevice.mlir:{{[0-9]+}}:10: error: 'llvm.call' op calls '__nv_erff': MLIR_SMEM_LIBDEVICE names '{{.*}}absent', which cannot be read

// LLVM: declare float @__nv_erff(float)

// CHECK-NOT: __nv_
// CHECK-NOT: .extern
// CHECK: .entry kernel(
// CHECK: fma.rn.f32
// CHECK: ex2.approx.ftz.f32
// CHECK-NOT: call
gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %0 = math.erf %x : f32
    memref.store %0, %m[%c0] : memref<1xf32>
    gpu.return
  }
}
