// Rows that consumers do not divide.

// RUN: smem-opt %s --smem-warp-specialize=consumers=2 --split-input-file | FileCheck %s
// RUN: smem-opt %s --smem-warp-specialize=consumers=2 --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x?xbf16>
!w = memref<64x64xbf16, strided<[?, 1], offset: ?>>

// Each warpgroup of consumers has 64 rows.
// REMARK: remark: is not specialized: its fragments have 64 rows, too few for 2 warpgroups of consumers of 64 rows each
// CHECK-LABEL: func.func @too_few_rows
// CHECK-NOT: smem.warp_specialize
func.func @too_few_rows(%a: !m, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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

// The maximum of a column is that of all rows.
// REMARK: remark: is not specialized: the smem.reduce at {{[0-9:]+}} is not divided by rows; write the kernel for one warpgroup of consumers
// CHECK-LABEL: func.func @columns
// CHECK-NOT: smem.warp_specialize
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
