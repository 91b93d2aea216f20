// A loop that asks for it is not unrolled.

// RUN: smem-compile %s --emit=ptx -o - | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: .entry rolled
  // CHECK: st.global
  // CHECK-NOT: st.global
  // CHECK: bra
  gpu.func @rolled(%a: memref<8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = arith.constant 2.0 : f32
    scf.for %i = %c0 to %c8 step %c1 {
      memref.store %x, %a[%i] : memref<8xf32>
    } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
    gpu.return
  }
}
