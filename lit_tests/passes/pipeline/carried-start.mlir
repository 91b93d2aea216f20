// Where a load begins may depend on a number that the loop carries, or on an array that no op writes: the loop
// carries it once more, for the iteration whose loads begin. The loop's variable does not count from 0 here.

// RUN: smem-opt %s --smem-pipeline=stages=3 | FileCheck %s
// RUN: smem-opt %s --smem-to-nvvm="pipeline=all insert-sync=true" | FileCheck %s --check-prefix=NVVM
// NVVM-NOT: "smem.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// CHECK: %[[BEGIN:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[P:.*]] = %[[START:.*]]) -> (index)
// CHECK: %[[OFFSET:.*]] = arith.muli %[[I]], %c2
// CHECK-NEXT: %[[J:.*]] = arith.addi %{{.*}}, %[[OFFSET]]
// CHECK-NEXT: %[[THERE:.*]] = arith.cmpi slt, %[[J]], %{{.*}}
// CHECK-NEXT: %[[Q:.*]] = scf.if %[[THERE]] -> (index)
// CHECK: "smem.copy_async"
// CHECK: else
// CHECK: scf.yield %[[P]]
// CHECK: scf.yield %[[Q]]
// CHECK: scf.for %{{.*}} = %c1 to %{{.*}} step %c2 iter_args(%[[X:.*]] = %{{.*}}, %{{.*}} = %[[START]], %[[EARLY:.*]] = %[[BEGIN]], %[[NUMBER:.*]] = %{{.*}})
// CHECK: arith.remui %[[NUMBER]], %c3
// CHECK: scf.if
// CHECK: memref.load %{{.*}}[%[[EARLY]]]
// CHECK: "smem.copy_async"
// CHECK: %[[NEXT:.*]] = arith.addi %[[NUMBER]], %{{.*}}
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[NEXT]]
func.func @gather(%a: !m, %p: memref<?xindex>, %from: index, %n: index, %out: memref<64x64xf32>)
    attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d:2 = scf.for %i = %c1 to %n step %c2 iter_args(%x = %d0, %place = %from) -> (!c, index) {
    %block = memref.load %p[%place] : memref<?xindex>
    %at = arith.muli %block, %c64 : index
    %w = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%w, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    %next = arith.addi %place, %c1 : index
    scf.yield %y, %next : !c, index
  }
  "smem.store"(%d#0, %out) : (!c, memref<64x64xf32>) -> ()
  return
}
