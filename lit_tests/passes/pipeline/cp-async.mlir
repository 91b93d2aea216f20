// Loads of the first iterations come before the loop, those of a later one behind the other ops of each iteration.

// RUN: smem-opt %s --smem-pipeline=stages=4 | FileCheck %s
// RUN: smem-opt %s --smem-pipeline=stages=2 | FileCheck %s --check-prefix=TWO
// RUN: smem-opt %s --smem-pipeline=stages=1 | FileCheck %s --check-prefix=ONE
// RUN: smem-opt %s --smem-pipeline=only-marked=true | FileCheck %s --check-prefix=ONE
// RUN: smem-opt %s --smem-pipeline="only-marked=true explain=true" 2>&1 >/dev/null | FileCheck %s --check-prefix=EXPLAINED
// RUN: smem-opt %s --smem-pipeline=explain=true 2>&1 >/dev/null | FileCheck %s --check-prefix=DONE
// RUN: smem-opt %s --smem-to-nvvm="pipeline=all insert-sync=true" | FileCheck %s --check-prefix=NVVM

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// CHECK-LABEL: func.func @product
// CHECK: %[[A:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
// CHECK-NEXT: %[[B:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c2
// CHECK: arith.cmpi slt, %[[I]], %[[N:.*]] : index
// CHECK-NEXT: scf.if
// CHECK: "smem.copy_async"
// CHECK: "smem.copy_async"
// CHECK: scf.for %[[K:.*]] = %c0 to %[[N]] step %c1
// CHECK: %[[STAGE:.*]] = arith.remui %[[K]], %c4
// CHECK-NEXT: %[[AK:.*]] = "smem.stage"(%[[A]], %[[STAGE]])
// CHECK-NEXT: %[[BK:.*]] = "smem.stage"(%[[B]], %[[STAGE]])
// CHECK-NEXT: "smem.mma"(%[[AK]], %[[BK]],
// CHECK: %[[LATER:.*]] = arith.addi %[[K]], %c2
// CHECK-NEXT: arith.cmpi slt, %[[LATER]], %[[N]]
// CHECK-NEXT: scf.if
// CHECK: %[[COLUMN:.*]] = arith.muli %[[LATER]], %c64
// CHECK: memref.subview %{{.*}}[0, %[[COLUMN]]]
// CHECK: arith.remui %[[LATER]], %c4
// CHECK: "smem.copy_async"
// CHECK: "smem.copy_async"
// CHECK-NOT: "smem.copy"

// With two stages, loads are one iteration early.
// TWO: tensor<2x64x64xbf16>
// TWO: scf.for %{{.*}} = %{{.*}} to %c1_
// TWO: arith.remui %{{.*}}, %c2
// TWO: arith.addi %{{.*}}, %c1_

// ONE-NOT: copy_async
// ONE: "smem.copy"
// ONE: "smem.copy"

// EXPLAINED: remark: loads and products do not overlap in this loop: give it stages (cp.async), or specialize it (a producer, TMA)
// DONE: remark: has 4 stages of 8192 + 8192 bytes, and loads 2 iterations ahead by cp.async

// One group is left in flight, and so is the latest mma.
// NVVM: nvvm.cp.async.commit.group
// NVVM: nvvm.cp.async.wait.group 1
// NVVM: nvvm.wgmma.wait.group.sync.aligned 1
// NVVM: nvvm.cp.async.commit.group
func.func @product(%a: !m, %b: !m, %out: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %k = memref.dim %a, %c1 : !m
  %n = arith.divui %k, %c64 : index
  %ta = "smem.alloc"() : () -> !t
  %tb = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %ta) : (!w, !t) -> ()
    %wb = memref.subview %b[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wb, %tb) : (!w, !t) -> ()
    %y = "smem.mma"(%ta, %tb, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  }
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}
