// What an epilogue computes becomes instructions; what only CUDA's libdevice has is refused at its place.

// RUN: smem-compile %s --emit=ptx -o - | FileCheck %s
// RUN: sed 's/ fastmath<afn>//' %s > %t.mlir
// RUN: %{refused} smem-compile %t.mlir --emit=ptx -o %t.ptx | FileCheck %s --check-prefix=REFUSED

// REFUSED: math.mlir.tmp.mlir:{{[0-9]+}}:10: error: 'math.tanh' op needs CUDA's libdevice, which is not linked; fastmath<afn> makes it tanh.approx

// CHECK: .entry kernel(
// CHECK: fma.rn.f32
// CHECK: tanh.approx.f32
// CHECK: abs.f32
// CHECK: rsqrt.approx.f32
// CHECK: ex2.approx.f32
// CHECK: max.NaN.f32
// CHECK-NOT: .extern
gpu.module @kernels {
  gpu.func @kernel(%m: memref<1xf32>, %x: f32, %y: f32) kernel {
    %c0 = arith.constant 0 : index
    %half = arith.constant 0.797884583 : f32
    %0 = math.fma %x, %y, %half : f32
    %1 = math.tanh %0 fastmath<afn> : f32
    %2 = math.absf %1 : f32
    %3 = math.rsqrt %2 : f32
    %4 = math.exp2 %3 : f32
    %5 = arith.maximumf %4, %y : f32
    memref.store %5, %m[%c0] : memref<1xf32>
    gpu.return
  }
}
