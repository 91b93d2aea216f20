// Known divisors of a run-time offset prove that a subtile does not cut atoms: 128 columns are two atoms of 64
// elements, and a subtile of 64 columns must not cut one.

// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s

!t = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!p = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// CHECK-LABEL: func.func @gemm
func.func @gemm(%m: memref<64x128xbf16>, %b: !p, %i: index) {
  %c64 = arith.constant 64 : index
  %at = arith.muli %i, %c64 : index
  // CHECK: #smem.layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))">
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x128xbf16>, !t) -> ()
  %p = "smem.subtile"(%t, %at) {static_offsets = array<i64: 0, -9223372036854775808>} : (!t, index) -> !p
  %d = "smem.mma"(%p, %b) : (!p, !p) -> !d
  return
}

// CHECK-LABEL: func.func @shift_sum_cast_select
func.func @shift_sum_cast_select(%m: memref<64x128xbf16>, %b: !p, %i: i32, %c: i1) {
  %c6 = arith.constant 6 : i32
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %shifted = arith.shli %i, %c6 : i32
  %cast = arith.index_cast %shifted : i32 to index
  %sum = arith.addi %cast, %c64 : index
  %at = arith.select %c, %sum, %c0 : index
  // CHECK: #smem.layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))">
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x128xbf16>, !t) -> ()
  %p = "smem.subtile"(%t, %at) {static_offsets = array<i64: 0, -9223372036854775808>} : (!t, index) -> !p
  %d = "smem.mma"(%p, %b) : (!p, !p) -> !d
  return
}

// CHECK-LABEL: func.func @loop_step
func.func @loop_step(%m: memref<64x128xbf16>, %b: !p) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  // CHECK: #smem.layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))">
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x128xbf16>, !t) -> ()
  scf.for %at = %c0 to %c128 step %c64 {
    %p = "smem.subtile"(%t, %at) {static_offsets = array<i64: 0, -9223372036854775808>} : (!t, index) -> !p
    %d = "smem.mma"(%p, %b) : (!p, !p) -> !d
  }
  return
}

// CHECK-LABEL: func.func @promise
func.func @promise(%m: memref<64x128xbf16>, %b: !p, %at: index) {
  // CHECK: #smem.layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))">
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x128xbf16>, !t) -> ()
  %p = "smem.subtile"(%t, %at) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 64>} : (!t, index) -> !p
  %d = "smem.mma"(%p, %b) : (!p, !p) -> !d
  return
}

// At multiples of 32, only the atoms of the 64-byte swizzle are not cut.
// CHECK-LABEL: func.func @narrower
func.func @narrower(%m: memref<64x128xbf16>, %b: !p, %at: index) {
  // CHECK: #smem.layout<"Swizzle<2,4,3> o (64,(32,4)):(32,(1,2048))">
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x128xbf16>, !t) -> ()
  %p = "smem.subtile"(%t, %at) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 32>} : (!t, index) -> !p
  %d = "smem.mma"(%p, %b) : (!p, !p) -> !d
  return
}
