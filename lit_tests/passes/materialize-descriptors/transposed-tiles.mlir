// One tile, read K-major by one mma and N-major, through its transpose, by the other: two constants, one address. A
// run-time start of the transpose is one of the tile's other dimension: a column is a row of 128 bytes, 8 units.

// RUN: smem-opt %s --smem-materialize-descriptors=explain 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

!t = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!v = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "column-major">>
!q = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!p = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
// CHECK-LABEL: func.func @both_orders
func.func @both_orders() {
  %q = "smem.alloc"() {offset = 0 : i64} : () -> !q
  %p = "smem.alloc"() {offset = 8192 : i64} : () -> !p
  %k = "smem.alloc"() {offset = 32768 : i64} : () -> !t
  %t = "smem.transpose"(%k) : (!t) -> !v
  // REMARK: B: 0x4000004000010000: start 0x0, LBO 16 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes into the tile
  // CHECK: "smem.mma_desc"({{.*}} b_element = "bf16", b_major = "k", b_steps = array<i64: 0, 2, 4, 6>}
  %s = "smem.mma"(%q, %t) : (!q, !v) -> !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
  // REMARK: B: 0x4000004000000000: start 0x0, LBO 0 B, SBO 1024 B, base offset 0, swizzle 128B; starts 0 bytes into the tile
  // CHECK: "smem.mma_desc"({{.*}} b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128, 256, 384, 512, 640, 768, 896>}
  %o = "smem.mma"(%p, %k) : (!p, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
// CHECK: func.func @start_at_run_time(%[[ROW:.*]]: index)
func.func @start_at_run_time(%row: index) {
  %q = "smem.alloc"() {offset = 0 : i64} : () -> !q
  %k = "smem.alloc"() {offset = 32768 : i64} : () -> !t
  %t = "smem.transpose"(%k) : (!t) -> !v
  %h = "smem.subtile"(%t, %row) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 64>} : (!v, index) -> !half
  // CHECK: %[[ROW64:.*]] = arith.index_cast %[[ROW]] : index to i64
  // CHECK-NEXT: %[[C8:.*]] = arith.constant 8 : i64
  // CHECK-NEXT: %[[UNITS:.*]] = arith.muli %[[ROW64]], %[[C8]] : i64
  // CHECK-NEXT: %[[B:.*]] = arith.addi %{{.*}}, %[[UNITS]] : i64
  // CHECK-NEXT: "smem.mma_desc"(%{{.*}}, %[[B]])
  %s = "smem.mma"(%q, %h) : (!q, !half) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
