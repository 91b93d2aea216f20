// Bulk tensor copies require layouts in which the lines of a box are lines of global memory, and boxes begin at whole
// swizzle patterns, as do the shares of CTAs.

// RUN: smem-opt %s --smem-assign-layouts=explain -o %t 2>&1 | FileCheck %s

!m = memref<?x?xbf16, strided<[?, 1]>>
!n = memref<?x?xbf16, strided<[1, ?]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!s = !smem.tile<tensor<4x64x128xbf16>, #smem.auto>
!r = !smem.tile<tensor<64x128xbf16>, #smem.auto>

func.func @row_major(%m: !m, %i: index) {
  // CHECK: layout Swizzle<3,4,3> o (64,64):(64,1) was chosen
  // CHECK-NEXT: picked   swizzle 128B, row-major, atoms across: the tma_load at {{[0-9:]+}}: one copy of 64x64
  // CHECK-NEXT: refused  swizzle 128B, column-major, atoms across: the tma_load at {{[0-9:]+}}: the data in global memory is row-major, but the tile is column-major; TMA moves lines as they are
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() : () -> !t
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// Each CTA loads half of the lines of a stage.
func.func @column_major_stages(%n: !n, %i: index) attributes {known_cluster_size = array<i32: 2, 1, 1>} {
  // CHECK: layout Swizzle<3,4,3> o (4,64,128):(8192,1,64) was chosen
  // CHECK: picked   swizzle 128B, column-major, atoms across: the tma_load at {{[0-9:]+}}: one copy of 64x64 in each of 2 CTAs
  %r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() : () -> !s
  %s = "smem.stage"(%t, %i) : (!s, index) -> !r
  "smem.tma_load"(%n, %s, %r, %i, %i, %i) {multicast = "x"} : (!n, !r, !smem.pipeline, index, index, index) -> ()
  return
}

// Half of a line of 128 bytes is not a line of a box.
!p = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @halves(%m: !m, %i: index) {
  // CHECK: layout Swizzle<2,4,3> o (64,(32,4)):(32,(1,2048)) was chosen
  // CHECK-NEXT: refused  swizzle 128B, row-major, atoms across: the tma_store at {{[0-9:]+}}: lines of 32 elements are 64 elements apart; the lines of a tensor map's box are adjacent
  // CHECK: picked   swizzle 64B, row-major, atoms across: the tma_store at {{[0-9:]+}}: one copy of 64x32
  %t = "smem.alloc"() : () -> !r
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 32>} : (!r) -> !p
  "smem.tma_store"(%p, %m, %i, %i) : (!p, !m, index, index) -> ()
  return
}

// 8 rows of 64 columns are a single pattern of 1024 bytes, or four of 256.
!one = !smem.tile<tensor<8x64xbf16>, #smem.auto>
func.func @shared(%m: !m, %i: index) attributes {known_cluster_size = array<i32: 4, 1, 1>} {
  // CHECK: layout Swizzle<1,4,3> o (8,(16,4)):(16,(1,128)) was chosen
  // CHECK-NEXT: refused  swizzle 128B, row-major, atoms across: the tma_load at {{[0-9:]+}}: 4 CTAs cannot share its copy: the subtile begins at multiples of 256 bytes in its tile; TMA needs multiples of 1024; the subtile begins at multiples of 32 bytes in its tile; TMA needs multiples of 1024
  // CHECK: picked   swizzle 32B, row-major, atoms across: the tma_load at {{[0-9:]+}}: one copy of 8x16 in each of 4 CTAs
  %r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() : () -> !one
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !one, !smem.pipeline, index, index, index) -> ()
  return
}

// A box has 256 elements at most along a dimension...
!big = !smem.tile<tensor<512x64xbf16>, #smem.auto>
func.func @several(%m: !m, %i: index) {
  // CHECK: picked   swizzle 128B, row-major, atoms across: the tma_store at {{[0-9:]+}}: 2 copies of 256x64
  %t = "smem.alloc"() : () -> !big
  "smem.tma_store"(%t, %m, %i, %i) : (!big, !m, index, index) -> ()
  return
}

// ... but eight bits count as one.
!bits = !smem.tile<tensor<64x1024xi1>, #smem.auto>
func.func @bits(%m: memref<?x?xi8, strided<[?, 1]>>, %i: index) {
  // CHECK: layout Swizzle<3,4,3> o (64,1024):(1024,1) was chosen
  // CHECK-NEXT: picked   swizzle 128B, row-major, atoms across: the tma_store at {{[0-9:]+}}: one copy of 64x1024
  %t = "smem.alloc"() : () -> !bits
  "smem.tma_store"(%t, %m, %i, %i) : (!bits, memref<?x?xi8, strided<[?, 1]>>, index, index) -> ()
  return
}
