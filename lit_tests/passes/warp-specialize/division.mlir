// What consumers divide: rows, or columns, that do not depend on each other.

// RUN: smem-opt %s --smem-warp-specialize=consumers=2 --split-input-file | FileCheck %s
// RUN: smem-opt %s --smem-warp-specialize=consumers=2 --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// Each warpgroup of consumers has 64 rows, or columns.
// REMARK: remark: is not specialized: its fragments have 64 rows and 64 columns; 2 warpgroups of consumers divide multiples of 128
// CHECK-LABEL: func.func @too_small
// CHECK-NOT: smem.warp_specialize
func.func @too_small(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [64, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %y = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  "smem.store"(%d, %out) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
!m = memref<128x?xbf16>
!w = memref<128x64xbf16, strided<[?, 1], offset: ?>>
!s = !smem.fragment<tensor<128xf32>, #smem.slice<0 : i64>>

// The maximum of a column is that of all rows, so each warpgroup has columns: of B, and of the result.
// CHECK-LABEL: func.func @columns
// CHECK: "smem.partition"
// CHECK: "smem.partition"
// CHECK-NEXT: ^bb0(%[[W:.*]]: index)
// CHECK: %[[FIRST:.*]] = arith.muli %[[W]], %c64
// CHECK: %[[B:.*]] = "smem.subtile"(%{{.*}}, %[[FIRST]]) {static_offsets = array<i64: 0, -9223372036854775808>}
// CHECK: "smem.mma"(%{{.*}}, %[[B]],
// CHECK: "smem.reduce"({{.*}}) -> !smem.fragment<tensor<64xf32>, #smem.slice<0 : i64>>
// CHECK: memref.subview %arg1[%[[FIRST]]] [64] [1]
func.func @columns(%a: !m, %out: memref<128xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [128, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %b = "smem.transpose"(%t) : (!t) -> !smem.tile<tensor<64x128xbf16>, #smem.auto>
    %y = "smem.mma"(%t, %b, %x) : (!t, !smem.tile<tensor<64x128xbf16>, #smem.auto>, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  %s = "smem.reduce"(%d) {axis = 0 : i32, op = "maximumf"} : (!c) -> !s
  "smem.store"(%s, %out) : (!s, memref<128xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
!m = memref<128x?xbf16>
!w = memref<128x64xbf16, strided<[?, 1], offset: ?>>
!s = !smem.fragment<tensor<128xf32>, #smem.slice<0 : i64>>
!r = !smem.fragment<tensor<128xf32>, #smem.slice<1 : i64>>

// Maxima of rows, too, depend on all columns.
// REMARK: remark: is not specialized: the smem.reduce at {{[0-9:]+}} is not divided by rows; write the kernel for one warpgroup of consumers
// CHECK-LABEL: func.func @both
// CHECK-NOT: smem.warp_specialize
func.func @both(%a: !m, %out: memref<128xf32>, %rows: memref<128xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %d0 = "smem.fill"(%zero) : (f32) -> !c
  %d = scf.for %i = %c0 to %n step %c1 iter_args(%x = %d0) -> (!c) {
    %at = arith.muli %i, %c64 : index
    %wa = memref.subview %a[0, %at] [128, 64] [1, 1] : !m to !w
    "smem.copy"(%wa, %t) : (!w, !t) -> ()
    %b = "smem.transpose"(%t) : (!t) -> !smem.tile<tensor<64x128xbf16>, #smem.auto>
    %y = "smem.mma"(%t, %b, %x) : (!t, !smem.tile<tensor<64x128xbf16>, #smem.auto>, !c) -> !c
    scf.yield %y : !c
  } {smem.specialize}
  %s = "smem.reduce"(%d) {axis = 0 : i32, op = "maximumf"} : (!c) -> !s
  %r = "smem.reduce"(%d) {axis = 1 : i32, op = "maximumf"} : (!c) -> !r
  "smem.store"(%r, %rows) : (!r, memref<128xf32>) -> ()
  "smem.store"(%s, %out) : (!s, memref<128xf32>) -> ()
  return
}
