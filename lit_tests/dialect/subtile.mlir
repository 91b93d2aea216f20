// RUN: smem-opt %s | smem-opt | FileCheck %s

!tile = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<64x16xbf16>, #smem.auto>

// CHECK-LABEL: func.func @static
func.func @static(%t: !tile) {
  // CHECK: "smem.subtile"(%{{.*}}) {static_offsets = array<i64: 64, 32>} : (!smem.tile<tensor<128x64xbf16>, #smem.auto>) -> !smem.tile<tensor<64x16xbf16>, #smem.auto>
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 64, 32>} : (!tile) -> !part
  return
}

// -2^63 stands for the next operand, as in memref.subview.
// CHECK-LABEL: func.func @dynamic_row
func.func @dynamic_row(%t: !tile, %row: index) {
  // CHECK: "smem.subtile"(%{{.*}}, %{{.*}}) {static_offsets = array<i64: -9223372036854775808, 32>} : (!smem.tile<tensor<128x64xbf16>, #smem.auto>, index) -> !smem.tile<tensor<64x16xbf16>, #smem.auto>
  %0 = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 32>} : (!tile, index) -> !part
  return
}

// CHECK-LABEL: func.func @dynamic_both
func.func @dynamic_both(%t: !tile, %row: index, %column: index) {
  // CHECK: "smem.subtile"(%{{.*}}, %{{.*}}, %{{.*}}) {multiple_of = array<i64: 64, 16>, static_offsets = array<i64: -9223372036854775808, -9223372036854775808>} : (!smem.tile<tensor<128x64xbf16>, #smem.auto>, index, index) -> !smem.tile<
  %0 = "smem.subtile"(%t, %row, %column) {static_offsets = array<i64: -9223372036854775808, -9223372036854775808>, multiple_of = array<i64: 64, 16>} : (!tile, index, index) -> !part
  return
}
