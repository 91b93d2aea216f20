// In a loop of tiles a store warp stores the result: it grants buffers to the consumers in turn, so the mma of one run
// while the other one fills its buffers. Of two results it stores the last one; the consumers store the first one.

// RUN: smem-opt %s --smem-warp-specialize=explain=true 2>%t | FileCheck %s
// RUN: FileCheck %s --input-file=%t --check-prefix=REMARK

!t = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!bt = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!c = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
!m = memref<?x?xbf16>
!w = memref<128x64xbf16, strided<[?, 1], offset: ?>>
!r = memref<?x128xf32>
!o = memref<128x128xf32, strided<[128, 1], offset: ?>>

// REMARK: remark: has a producer, a store warp, and 2 warpgroups of consumers, with 4 stages
// CHECK-LABEL: func.func @two_results
// CHECK: %[[OWN:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x64x32xf32>
// CHECK: %[[BUFFERS:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x64x32xf32>
// CHECK: %[[P:.*]] = "smem.create_pipeline"() {consumers = 1 : i32, producers = 1 : i32, stages = 8 : i32}
// CHECK: "smem.partition"
// CHECK: "smem.elect"
// CHECK: "smem.tma_load"
// Three of four buffers are granted at first; the store that is read frees the next one.
// CHECK: "smem.elect"
// CHECK-COUNT-3: "smem.producer_commit"(%[[P]],
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[N:.*]] = %c0
// The windows of two iterations may have the same elements.
// CHECK: "smem.tma_wait"() {pending = 0 : i32}
// CHECK: scf.for %[[W:.*]] =
// CHECK: %[[ROW:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: scf.for %[[PART:.*]] =
// CHECK: %[[COLUMN:.*]] = arith.muli %[[PART]], %c32
// CHECK: %[[I:.*]] = arith.addi %{{.*}}, %[[PART]]
// CHECK: %[[RELEASED:.*]] = arith.addi %[[I]], %c8
// CHECK: "smem.producer_acquire"(%[[P]], %[[RELEASED]])
// CHECK: %[[NUMBER:.*]] = arith.remui %[[I]], %c4{{.*}}
// CHECK: %[[TILE:.*]] = "smem.stage"(%[[BUFFERS]], %[[NUMBER]])
// CHECK: "smem.tma_store"(%[[TILE]], %arg3, %{{.*}}, %{{.*}})
// CHECK: "smem.tma_commit"
// CHECK: "smem.tma_wait"() {pending = 1 : i32, read}
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c3
// CHECK: "smem.producer_commit"(%[[P]], %[[NEXT]])
// CHECK: warp = 1 : i32
// CHECK: "smem.partition"
// CHECK: "smem.tma_store"({{.*}}, %arg2,
// CHECK: "smem.map"
// CHECK: "smem.consumer_wait"(%[[P]], %[[I:[0-9]+]])
// CHECK: %[[FIRST:.*]] = "smem.columns"({{.*}}) {first = 0 : i64}
// CHECK: %[[NUMBER:.*]] = arith.remui %[[I]], %c4{{.*}}
// CHECK: %[[BUFFER:.*]] = "smem.stage"(%[[BUFFERS]], %[[NUMBER]])
// CHECK: "smem.store"(%[[FIRST]], %[[BUFFER]])
// CHECK: "smem.consumer_release"(%[[P]], %[[I]])
// CHECK: "smem.columns"({{.*}}) {first = 96 : i64}
// CHECK-NOT: "smem.tma_store"
func.func @two_results(%a: !m, %b: !m, %out: !r, %doubled: !r) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %block = gpu.block_id x
  %blocks = gpu.grid_dim x
  %m = memref.dim %a, %c0 : !m
  %k = memref.dim %a, %c1 : !m
  %tiles = arith.divui %m, %c128 : index
  %n = arith.divui %k, %c64 : index
  %ta = "smem.alloc"() : () -> !t
  %tb = "smem.alloc"() : () -> !t
  scf.for %tile = %block to %tiles step %blocks {
    %row = arith.muli %tile, %c128 : index
    %d0 = "smem.fill"(%zero) : (f32) -> !c
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
      %at = arith.muli %i, %c64 : index
      %wa = memref.subview %a[%row, %at] [128, 64] [1, 1] : !m to !w
      "smem.copy"(%wa, %ta) : (!w, !t) -> ()
      %wb = memref.subview %b[0, %at] [128, 64] [1, 1] : !m to !w
      "smem.copy"(%wb, %tb) : (!w, !t) -> ()
      %bt = "smem.transpose"(%tb) : (!t) -> !bt
      %y = "smem.mma"(%ta, %bt, %x) : (!t, !bt, !c) -> !c
      scf.yield %y : !c
    }
    %wo = memref.subview %out[%row, 0] [128, 128] [1, 1] : !r to !o
    "smem.store"(%d, %wo) : (!c, !o) -> ()
    %e = "smem.map"(%d) ({
    ^bb0(%x: f32):
      %s = arith.addf %x, %x : f32
      "gpu.yield"(%s) : (f32) -> ()
    }) : (!c) -> !c
    %wd = memref.subview %doubled[%row, 0] [128, 128] [1, 1] : !r to !o
    "smem.store"(%e, %wd) : (!c, !o) -> ()
  }
  return
}
