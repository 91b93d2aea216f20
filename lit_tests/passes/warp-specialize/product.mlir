// One thread loads by TMA; two warpgroups have half of the rows each. A stage is released when the mma of the next
// iteration was issued.

// RUN: smem-opt %s --smem-warp-specialize=stages=4 | FileCheck %s
// RUN: smem-opt %s --smem-warp-specialize="consumers=1 stages=2" | FileCheck %s --check-prefix=ONE
// RUN: smem-opt %s --smem-warp-specialize=only-marked=true | FileCheck %s --check-prefix=MARKED
// RUN: smem-opt %s --smem-warp-specialize --smem-to-nvvm=insert-sync=true | FileCheck %s --check-prefix=NVVM

!t = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
!m = memref<?x?xbf16>
!w = memref<128x64xbf16, strided<[?, 1], offset: ?>>
!o = memref<128x128xf32, strided<[?, 1], offset: ?>>

// CHECK-LABEL: func.func @product
// CHECK-SAME: known_block_size = array<i32: 384, 1, 1>, nvvm.minctasm = 1 : i32
// CHECK: %[[N:.*]] = arith.divui
// CHECK: %[[A:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x128x64xbf16>, #smem.auto>
// CHECK: %[[B:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<4x128x64xbf16>, #smem.auto>
// CHECK: %[[P:.*]] = "smem.create_pipeline"() {consumers = 2 : i32, producers = 1 : i32, stages = 4 : i32}
// CHECK: "smem.partition"
// CHECK: "smem.elect"
// CHECK: scf.for %[[K:.*]] = %c0 to %[[N]] step %c1
// CHECK: %[[AT:.*]] = arith.muli %[[K]], %c64
// CHECK-NEXT: %[[S:.*]] = "smem.producer_acquire"(%[[P]], %[[K]])
// CHECK-NEXT: %[[AS:.*]] = "smem.stage"(%[[A]], %[[S]])
// CHECK-NEXT: "smem.tma_load"(%arg0, %[[AS]], %[[P]], %[[K]], %[[ROW:.*]], %[[AT]])
// CHECK: "smem.tma_load"(%arg1,
// CHECK-NEXT: "smem.producer_commit"(%[[P]], %[[K]])
// CHECK: registers = 40 : i32, warpgroups = 1 : i32
// CHECK: "smem.partition"
// CHECK-NEXT: ^bb0(%[[W:.*]]: index)
// CHECK: %[[FIRST:.*]] = arith.muli %[[W]], %c64
// CHECK: "smem.fill"({{.*}}) : (f32) -> !smem.fragment<tensor<64x128xf32>, #smem.accumulator>
// CHECK: scf.for %[[K:.*]] = %c0 to %[[N]]
// CHECK: %[[WORD:.*]], %{{.*}} = gpu.shuffle idx
// CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[WORD]]
// CHECK-NEXT: %[[S:.*]] = "smem.consumer_wait"(%[[P]], %[[I]])
// CHECK: %[[AS:.*]] = "smem.stage"(%[[A]], %[[S]])
// CHECK: %[[OWN:.*]] = "smem.subtile"(%[[AS]], %[[FIRST]])
// CHECK: "smem.mma"(%[[OWN]],
// CHECK: %[[LATER:.*]] = arith.cmpi sgt, %[[K]], %c0
// CHECK-NEXT: scf.if %[[LATER]]
// CHECK: %[[BEFORE:.*]] = arith.subi %[[I]], %c1
// CHECK-NEXT: "smem.consumer_release"(%[[P]], %[[BEFORE]])
// Each warpgroup stores its rows, 32 columns at a time, through two buffers of its own.
// CHECK: %[[OWNFIRST:.*]] = arith.muli %[[W]], %c64
// CHECK: %[[OWNROW:.*]] = arith.addi %[[ROW]], %[[OWNFIRST]]
// CHECK: %[[NUMBER:.*]] = arith.muli %[[W]], %c2
// CHECK-NEXT: %[[BUFFER:.*]] = "smem.stage"(%[[BUFFERS:.*]], %[[NUMBER]]) : (!smem.tile<tensor<4x64x32xf32>
// CHECK-NEXT: "smem.columns"({{.*}}) {first = 0 : i64}
// CHECK-NEXT: "smem.store"({{.*}}, %[[BUFFER]])
// CHECK-NEXT: "smem.elect"
// CHECK: "smem.tma_store"(%[[BUFFER]], %arg2, %[[OWNROW]], %c0
// CHECK-NEXT: "smem.tma_commit"
// CHECK: "smem.columns"({{.*}}) {first = 96 : i64}
// CHECK-NOT: smem.tma_wait
// CHECK: registers = 232 : i32, warpgroups = 2 : i32

// ONE: known_block_size = array<i32: 256, 1, 1>
// ONE: consumers = 1 : i32, producers = 1 : i32, stages = 2 : i32
// ONE-NOT: registers

// MARKED-NOT: smem.warp_specialize

// NVVM-NOT: "smem.
// NVVM: nvvm.wgmma.wait.group.sync.aligned 1
func.func @product(%a: !m, %b: !m, %out: memref<?x128xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %block = gpu.block_id x
  %row = arith.muli %block, %c128 : index
  %k = memref.dim %a, %c1 : !m
  %n = arith.divui %k, %c64 : index
  %ta = "smem.alloc"() : () -> !t
  %tb = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[%row, %at] [128, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %ta) : (!w, !t) -> ()
    %wb = memref.subview %b[0, %at] [128, 64] [1, 1] : !m to !w
    "smem.copy"(%wb, %tb) : (!w, !t) -> ()
    %bt = "smem.transpose"(%tb) : (!t) -> !smem.tile<tensor<64x128xbf16>, #smem.auto>
    %y = "smem.mma"(%ta, %bt, %x) : (!t, !smem.tile<tensor<64x128xbf16>, #smem.auto>, !c) -> !c
    scf.yield %y : !c
  }
  %wo = memref.subview %out[%row, 0] [128, 128] [1, 1] : memref<?x128xf32> to memref<128x128xf32, strided<[128, 1], offset: ?>>
  "smem.store"(%d, %wo) : (!c, memref<128x128xf32, strided<[128, 1], offset: ?>>) -> ()
  return
}
