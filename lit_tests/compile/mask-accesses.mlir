// An access that may be outside of its array is masked if that is asked for.

// RUN: smem-compile %s --emit=nvvm --mask-accesses --explain -o - 2>&1 | FileCheck %s
// RUN: smem-compile %s --emit=nvvm -o - | FileCheck %s --check-prefix=WITHOUT

// CHECK: mask-accesses.mlir:[[LINE:[0-9]+]]:5: remark: is masked: it is not known that the elements of A are within M
// CHECK: scf.if
// CHECK-NEXT: memref.store
// WITHOUT-NOT: scf.if

gpu.module @kernels {
  gpu.func @set(%A: memref<?xf32> {smem.name = "A", smem.shape = ["M"]}, %x: f32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = gpu.thread_id x
    memref.store %x, %A[%i] : memref<?xf32>
    gpu.return
  }
}
