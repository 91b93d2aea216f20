// A tensor map that is chosen at run time: the host would have to encode it without knowing its parameter.

// RUN: %{refused} smem-compile %s --emit=nvvm -o %t.mlir | FileCheck %s

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xbf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>
gpu.module @kernels {
  gpu.func @fetch(%A: !map, %B: !map, %c: i1) kernel {
    // CHECK: nvgpu-selected.mlir:9:10: error: 'arith.select' op uses a tensor map, which only the ops of nvgpu that prefetch and copy by it can
    %m = arith.select %c, %A, %B : !map
    nvgpu.tma.prefetch.descriptor %m : !map
    gpu.return
  }
}
