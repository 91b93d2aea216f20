// Linalg's own loop: a transform script tiles a product in a kernel, upstream's passes fold its windows, and the
// loop becomes a pipeline like any plain one.

// RUN: smem-opt %s --transform-interpreter --canonicalize --fold-memref-alias-ops --lower-affine --canonicalize --linalg-to-smem-tiles | FileCheck %s
// RUN: smem-opt %s --transform-interpreter --canonicalize --fold-memref-alias-ops --lower-affine --canonicalize --linalg-to-smem-tiles '--smem-to-nvvm=pipeline=marked insert-sync=true explain=true' 2>&1 >/dev/null | FileCheck %s --check-prefix=LOWER

// CHECK-LABEL: gpu.func @matmul
// CHECK:       %[[A:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<128x64xbf16>, #smem.auto>
// CHECK-NEXT:  %[[B:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<64x256xbf16>, #smem.auto>
// CHECK:       %[[C:.*]] = memref.subview %arg2
// CHECK-NEXT:  %[[ZERO:.*]] = "smem.fill"(
// CHECK-NOT:   linalg.fill
// CHECK-NEXT:  %[[SUM:.*]] = scf.for %[[K:.*]] = %c0 to %c1024 step %c64 iter_args(%[[ACC:.*]] = %[[ZERO]])
// CHECK-NEXT:    %[[WA:.*]] = memref.subview %arg0[%{{.*}}, %[[K]]] [128, 64]
// CHECK-NEXT:    %[[WB:.*]] = memref.subview %arg1[%[[K]], %{{.*}}] [64, 256]
// CHECK-NEXT:    "smem.copy"(%[[WA]], %[[A]])
// CHECK-NEXT:    "smem.copy"(%[[WB]], %[[B]])
// CHECK-NEXT:    %[[D:.*]] = "smem.mma"(%[[A]], %[[B]], %[[ACC]])
// CHECK-NEXT:    scf.yield %[[D]]
// CHECK-NEXT:  } {smem.specialize}
// CHECK-NEXT:  "smem.store"(%[[SUM]], %[[C]])

// LOWER: remark: has a producer, and 2 warpgroups of consumers, with 4 stages
module attributes {transform.with_named_sequence} {
  gpu.module @kernels {
    gpu.func @matmul(%a: memref<?x?xbf16> {smem.name = "A"}, %b: memref<?x?xbf16> {smem.name = "B"}, %c: memref<?x?xf32> {smem.name = "C"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c128 = arith.constant 128 : index
      %c256 = arith.constant 256 : index
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %x = gpu.block_id x
      %y = gpu.block_id y
      %row = arith.muli %y, %c128 : index
      %column = arith.muli %x, %c256 : index
      %wa = memref.subview %a[%row, 0] [128, 1024] [1, 1] : memref<?x?xbf16> to memref<128x1024xbf16, strided<[?, 1], offset: ?>>
      %wb = memref.subview %b[0, %column] [1024, 256] [1, 1] : memref<?x?xbf16> to memref<1024x256xbf16, strided<[?, 1], offset: ?>>
      %wc = memref.subview %c[%row, %column] [128, 256] [1, 1] : memref<?x?xf32> to memref<128x256xf32, strided<[?, 1], offset: ?>>
      %zero = arith.constant 0.0 : f32
      linalg.fill ins(%zero : f32) outs(%wc : memref<128x256xf32, strided<[?, 1], offset: ?>>)
      linalg.matmul ins(%wa, %wb : memref<128x1024xbf16, strided<[?, 1], offset: ?>>, memref<1024x256xbf16, strided<[?, 1], offset: ?>>) outs(%wc : memref<128x256xf32, strided<[?, 1], offset: ?>>)
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %m = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %m tile_sizes [0, 0, 64] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %l "smem.specialize" : !transform.any_op
    transform.yield
  }
}
