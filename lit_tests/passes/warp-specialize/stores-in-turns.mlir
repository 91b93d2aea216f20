// In a loop of tiles, warpgroups of consumers store one after the other: the mma of one run while another one stores. Of
// two results the first one is stored without a turn: warpgroups would wait for each other between the two.

// RUN: smem-opt %s --smem-warp-specialize | FileCheck %s

!t = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!bt = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!c = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
!m = memref<?x?xbf16>
!w = memref<128x64xbf16, strided<[?, 1], offset: ?>>
!r = memref<?x128xf32>
!o = memref<128x128xf32, strided<[128, 1], offset: ?>>

// CHECK-LABEL: func.func @two_results
// CHECK: ^bb0(%{{.*}}: index)
// CHECK-NOT: smem.order_
// CHECK: "smem.tma_store"({{.*}}, %arg2,
// CHECK: "smem.columns"({{.*}}) {first = 96 : i64}
// CHECK-NOT: smem.order_
// What the thread stored in the last iteration is complete.
// CHECK: "smem.tma_wait"() {pending = 0 : i32}
// CHECK: "smem.order_wait"() : () -> ()
// CHECK: "smem.columns"({{.*}}) {first = 0 : i64}
// CHECK: "smem.tma_store"({{.*}}, %arg3,
// CHECK-NOT: smem.order_
// CHECK: "smem.columns"({{.*}}) {first = 96 : i64}
// CHECK: "smem.tma_store"
// CHECK: "smem.order_arrive"() : () -> ()
// CHECK-NOT: smem.order_
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
