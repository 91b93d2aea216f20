// Math of an epilogue becomes instructions.

// RUN: env MLIR_SMEM_LIBDEVICE=%t.absent smem-compile %s --emit=ptx -o - | FileCheck %s

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
