// A loop in a loop, of two products with a pipeline each, which may have no iteration, or a negative end: the loop
// around carries the index of its first iteration, and the last stage is released behind it.

// RUN: smem-opt %s '--smem-warp-specialize=stages=2 explain=true' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t
// RUN: smem-opt %s --smem-warp-specialize --smem-insert-sync --smem-check-async --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// SAID: remark: has a producer, and a warpgroup of consumers, with 2 stages
// CHECK-LABEL: func.func @nested
// CHECK: %[[P:.*]] = "smem.create_pipeline"
// CHECK: %[[Q:.*]] = "smem.create_pipeline"
// CHECK: "smem.partition"
// CHECK: "smem.partition"
// CHECK: scf.for %{{.*}} = %c0 to %arg4 step %c1 iter_args(%[[FIRST:.*]] = %c0
// CHECK:   %[[N:.*]] = arith.maxsi %arg3, %c0
// CHECK:   scf.for %[[I:.*]] = %c0 to %[[N]] step %c1 iter_args
// CHECK-NEXT: %[[INDEX:.*]] = arith.addi %[[FIRST]], %[[I]]
// CHECK:      gpu.shuffle idx
// CHECK:   %[[NEXT:.*]] = arith.addi %[[FIRST]], %[[N]]
// CHECK:   scf.if
// CHECK:     %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK-NEXT: "smem.consumer_release"(%{{.*}}, %[[LAST]])
func.func @nested(%a: !m, %b: !m, %out: memref<64x64xf32>, %n: index, %times: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %s = "smem.alloc"() : () -> !t
  %t = "smem.alloc"() : () -> !t
  scf.for %j = %c0 to %times step %c1 {
    %d0 = "smem.fill"(%zero) : (f32) -> !c
    %e0 = "smem.fill"(%zero) : (f32) -> !c
    %d:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0, %y = %e0) -> (!c, !c) {
      %at = arith.muli %i, %c64 : index
      %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
      %wb = memref.subview %b[0, %at] [64, 64] [1, 1] : !m to !w
      "smem.copy"(%wa, %s) : (!w, !t) -> ()
      %z = "smem.mma"(%s, %s, %x) : (!t, !t, !c) -> !c
      "smem.copy"(%wb, %t) : (!w, !t) -> ()
      %v = "smem.mma"(%s, %t, %y) : (!t, !t, !c) -> !c
      scf.yield %z, %v : !c, !c
    }
    "smem.store"(%d#0, %out) : (!c, memref<64x64xf32>) -> ()
  }
  return
}
