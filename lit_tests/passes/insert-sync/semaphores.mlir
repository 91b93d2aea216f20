// In a CTA of one warpgroup, an arrival at a semaphore is the barrier between the store of a part and the load
// of all parts.

// RUN: smem-opt %s --smem-insert-sync | FileCheck %s

!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<128x64xf32>
!w = memref<64x64xf32, strided<[64, 1]>>
!v = memref<64x64xf32, strided<[64, 1], offset: 4096>>
!s = memref<?xi32>

// CHECK-LABEL: func.func @one_warpgroup
// CHECK: "smem.store"
// CHECK-NEXT: "smem.semaphore_arrive"
// CHECK-NEXT: scf.if
// CHECK-NEXT: "smem.load"
func.func @one_warpgroup(%m: !m, %s: !s, %i: index, %n: index, %x: !f, %d: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %w = memref.subview %m[0, 0] [64, 64] [1, 1] : !m to !w
  %v = memref.subview %m[64, 0] [64, 64] [1, 1] : !m to !v
  "smem.store"(%x, %v) : (!f, !v) -> ()
  %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
  scf.if %last {
    %y = "smem.load"(%w) : (!w) -> !f
    "smem.store"(%y, %d) : (!f, memref<64x64xf32>) -> ()
  }
  return
}
