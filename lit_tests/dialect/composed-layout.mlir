// Subtiles that cut atoms: the whole modes of the tile, and the origin of the subtile in them.

// RUN: smem-opt %s | smem-opt | FileCheck %s

// 256 columns are four atoms of 64, 4096 elements apart.
!t = !smem.tile<tensor<64x256xbf16>, #smem.swizzle<"128B", "row-major">>

// Columns 80 to 143 are in two atoms, from column 16 of the first.
// CHECK-LABEL: func.func @static
func.func @static(%t: !t) {
  // CHECK: "smem.subtile"(%{{.*}}) {static_offsets = array<i64: 0, 80>} : (!smem.tile<tensor<64x256xbf16>, #smem.swizzle<"128B", "row-major">>) -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">>
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0, 80>} : (!t) -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">>
  // A subtile of it that is within an atom has an #smem.layout.
  // CHECK: "smem.subtile"({{.*}}"(0,16)">>) -> !smem.tile<tensor<64x48xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,48):(64,1)">>
  %1 = "smem.subtile"(%0) {static_offsets = array<i64: 0, 0>} : (!smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">>) -> !smem.tile<tensor<64x48xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,48):(64,1)">>
  return
}

// A subtile with a run-time start can be in any of the atoms.
// CHECK-LABEL: func.func @run_time
func.func @run_time(%t: !t, %row: index, %i: index) {
  %c48 = arith.constant 48 : index
  %k = arith.muli %i, %c48 : index
  // CHECK: -> !smem.tile<tensor<32x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (32,(64,4)):(64,(1,4096))", "(0,16n)">>
  %0 = "smem.subtile"(%t, %row, %k) {static_offsets = array<i64: -9223372036854775808, -9223372036854775808>} : (!t, index, index) -> !smem.tile<tensor<32x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (32,(64,4)):(64,(1,4096))", "(0,16n)">>
  return
}

// The op can know more divisors of a start than its type: constant folding reveals them.
// CHECK-LABEL: func.func @known_later
func.func @known_later(%t: !t) {
  %k = arith.constant 64 : index
  // CHECK: "(0,16n)">>
  %0 = "smem.subtile"(%t, %k) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 16>} : (!t, index) -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,4)):(64,(1,4096))", "(0,16n)">>
  return
}
