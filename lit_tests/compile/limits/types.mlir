// Types on which LLVM's back end for PTX aborts are errors at the op with the value: each command tests another.

// RUN: sed 's/f32/f80/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=F80
// F80: <stdin>:{{[0-9]+}}:10: error: 'memref.load' op has a value of type f80; GPUs have no f80

// RUN: sed 's/f32/f128/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=F128
// F128: 'memref.load' op has a value of type f128; GPUs have no f128

// RUN: sed 's/f32/vector<[4]xf32>/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=SCALABLE
// SCALABLE: 'memref.load' op has a value of type vector<[4]xf32>; GPUs have no scalable vectors

// RUN: sed 's/f32/vector<1048576xf32>/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=LONG
// LONG: 'gpu.func' op has a value of type memref<4xvector<1048576xf32>>; a vector has at most 32768 elements, not 1048576

// RUN: sed 's/f32/complex<tf32>/; s/arith.addf/complex.add/' %s | %{refused} smem-compile - --emit=ptx -o - | FileCheck %s --check-prefix=TF32
// TF32: 'gpu.func' op has a value of type memref<4xcomplex<tf32>>; GPUs have no tf32

!element = f32
gpu.module @kernels {
  gpu.func @kernel(%m: memref<4x!element>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %x = memref.load %m[%zero] : memref<4x!element>
    %y = arith.addf %x, %x : !element
    memref.store %y, %m[%one] : memref<4x!element>
    gpu.return
  }
}
