// RUN: smem-opt %s --smem-assign-layouts --split-input-file --verify-diagnostics

// A given layout is checked against every use, also through subtiles.

!t = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(64,1)">>
!part = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @given_for_mma(%b: !part) {
  // expected-error-re@+1 {{'smem.alloc' op has the layout Swizzle<0,4,3> o (64,64):(64,1), which a use rejects: A of the mma at {{[0-9:]+}}: the MMA tile of 64x16 at (0, 0): along m/n, the stride of factor 8 is 64 elements where 1T = 8 is needed}}
  %t = "smem.alloc"() : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !part
  %d = "smem.mma"(%p, %b) : (!part, !part) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "column-major">>
!stage = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @given_for_copy(%m: memref<64x64xbf16>, %i: index) {
  // expected-error-re@+1 {{'smem.alloc' op has the layout Swizzle<3,4,3> o (2,64,64):(4096,1,64), which a use rejects: the copy at {{[0-9:]+}}: the data in global memory is row-major, but the tile is column-major; smem.copy with the unit attribute relayout transposes it}}
  %t = "smem.alloc"() : () -> !t
  %s = "smem.stage"(%t, %i) : (!t, index) -> !stage
  "smem.copy"(%m, %s) : (memref<64x64xbf16>, !stage) -> ()
  return
}

// -----

!v = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
!part = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @given_by_a_view(%w: memref<8192xi8, #gpu.address_space<workgroup>>, %m: memref<64x64xbf16>) {
  // expected-error-re@+1 {{'smem.view' op has the layout Swizzle<3,4,3> o (64,64):(1,64), which a use rejects: the copy at {{[0-9:]+}}: the data}}
  %v = "smem.view"(%w) : (memref<8192xi8, #gpu.address_space<workgroup>>) -> !v
  %p = "smem.subtile"(%v) {static_offsets = array<i64: 0, 0>} : (!v) -> !part
  "smem.copy"(%m, %p) : (memref<64x64xbf16>, !part) -> ()
  return
}

// -----

// 12 columns of bf16 are 24 bytes, which no atom divides. The first candidate of each width is reported.

func.func @odd_extent() {
  // expected-error@+1 {{refused  swizzle none, row-major, atoms across: the tile: its contiguous extent of 12 elements is no multiple of the atom's 8: 160 bytes would be padding}}
  %t = "smem.alloc"() : () -> !smem.tile<tensor<12x12xbf16>, #smem.auto>
  return
}

// -----

// The copy needs contiguous rows; column 4 is then byte 8 of a 16-byte unit.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x64xbf16>, #smem.auto>
func.func @misaligned_part(%m: memref<64x64xbf16>, %b: !b) {
  // expected-error-re@+1 {{refused  swizzle 128B, row-major, atoms across: A of the mma at {{[0-9:]+}}: the subtile begins 4 elements of bf16 or a multiple of that into the tile; tensor cores and 16-byte accesses need multiples of 16 bytes}}
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 4>} : (!t) -> !part
  %d = "smem.mma"(%p, %b) : (!part, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// The run-time column is not known to be a multiple of 16 bytes.

!t = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!part = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x64xbf16>, #smem.auto>
func.func @unknown_offset(%m: memref<64x128xbf16>, %b: !b, %i: index) {
  // expected-error-re@+1 {{refused  swizzle 128B, row-major, atoms across: A of the mma at {{[0-9:]+}}: the subtile begins 1 elements of bf16 or a multiple of that into the tile; tensor cores and 16-byte accesses need multiples of 16 bytes}}
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x128xbf16>, !t) -> ()
  %p = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>} : (!t, index) -> !part
  %d = "smem.mma"(%p, %b) : (!part, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// A loop-carried tile could differ in each iteration.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @carried(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error-re@+1 {{'smem.alloc' op is forwarded by 'scf.for' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile: give one smem.alloc a leading dimension, pass an index, and use smem.stage where the tile is needed}}
  %t = "smem.alloc"() : () -> !t
  %u = scf.for %i = %c0 to %n step %c1 iter_args(%x = %t) -> !t {
    scf.yield %x : !t
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @yielded(%c: i1) {
  %u = scf.if %c -> !t {
    // expected-error-re@+1 {{'smem.alloc' op is forwarded by 'scf.yield' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile}}
    %t = "smem.alloc"() : () -> !t
    scf.yield %t : !t
  } else {
    %t = "smem.alloc"() : () -> !t
    scf.yield %t : !t
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @selected(%c: i1) {
  // expected-error-re@+1 {{'smem.alloc' op is forwarded by 'arith.select' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile}}
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  %s = arith.select %c, %t, %u : !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @branched(%c: i1) {
  // expected-error-re@+1 {{'smem.alloc' op is forwarded by 'cf.cond_br' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile}}
  %t = "smem.alloc"() : () -> !t
  cf.cond_br %c, ^next(%t : !t), ^next(%t : !t)
^next(%s: !t):
  return
}

// -----

// A stage cannot be loop-carried either.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @carried_stage(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error-re@+1 {{'smem.alloc' op is forwarded by 'scf.for' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile}}
  %t = "smem.alloc"() : () -> !s
  %p = "smem.stage"(%t, %c0) : (!s, index) -> !t
  %u = scf.for %i = %c0 to %n step %c1 iter_args(%x = %p) -> !t {
    scf.yield %x : !t
  }
  return
}

// -----

// A call does not determine a layout.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func private @callee(!t)
func.func @called() {
  // expected-error-re@+1 {{'smem.alloc' op is used by 'func.call' at {{[0-9:]+}}, from which no layout follows; take its stages and subtiles where they are copied or multiplied}}
  %t = "smem.alloc"() : () -> !t
  func.call @callee(%t) : (!t) -> ()
  return
}

// -----

// A multiple of 8 columns can begin 8 columns before the end of an atom, which cuts an instruction's 16.

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!part = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @cuts_an_instruction(%i: index, %b: !part) {
  // expected-error-re@+1 {{A of the mma at {{[0-9:]+}}: the MMA tile of 64x16 at (0, 0): it cuts an atom: along k, it begins a multiple of 8 elements into one of 64 and is 16 long, but the next is 4096 elements apart and no descriptor reads across; begin at a multiple of 16}}
  %t = "smem.alloc"() : () -> !t
  %p = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 8>} : (!t, index) -> !part
  %d = "smem.mma"(%p, %b) : (!part, !part) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// B of 64 columns that are 32 in one atom and 32 in the next: an instruction reads all 64.

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @cuts_n(%a: !a) {
  // expected-error-re@+1 {{B of the mma at {{[0-9:]+}}: the MMA tile of 64x16 at (0, 0): it cuts an atom: along m/n, it begins 32 elements into one of 64 and is 64 long, but the next is 4096 elements apart and no descriptor reads across; begin at a multiple of 64}}
  %t = "smem.alloc"() : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 32>} : (!t) -> !a
  %d = "smem.mma"(%a, %p) : (!a, !a) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!part = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @cuts_a_vector(%m: memref<64x64xbf16>) {
  // expected-error-re@+1 {{the copy at {{[0-9:]+}}: the subtile begins 12 elements of bf16 or a multiple of that into the tile; tensor cores and 16-byte accesses need multiples of 16 bytes}}
  %t = "smem.alloc"() : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 12>} : (!t) -> !part
  "smem.copy"(%m, %p) : (memref<64x64xbf16>, !part) -> ()
  return
}

// -----

// On a func.func, no other dialect checks the attribute.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
// expected-error@+1 {{'func.func' op has known_block_size = "128"; expected array<i32: x, y, z>}}
func.func @block_size(%m: memref<64x64xbf16>) attributes {known_block_size = "128"} {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

// 8-bit data that is M-major: both refusals say what to write.

!t = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
func.func @m_major(%m: memref<128x64xf8E4M3FN>, %b: !b) {
  // expected-error-re@+1 {{refused  swizzle 128B, row-major, atoms across: the copy at {{[0-9:]+}}: the data in global memory is column-major, but the tile is row-major; smem.copy with the unit attribute relayout transposes it}}
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>} : (memref<128x64xf8E4M3FN>, !t) -> ()
  %d = "smem.mma"(%t, %b) : (!t, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Not every tile can be transposed.

!t = !smem.tile<tensor<62x128xf8E4M3FN>, #smem.auto>
func.func @no_whole_blocks(%m: memref<128x62xf8E4M3FN, strided<[64, 1]>>) {
  // expected-error-re@+1 {{refused  swizzle 128B, row-major, atoms across: the copy at {{[0-9:]+}}: e4m3 is transposed in blocks of 4 or more elements of global memory; the tile has 62 rows}}
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>, relayout} : (memref<128x62xf8E4M3FN, strided<[64, 1]>>, !t) -> ()
  return
}

// -----

// A tile cannot have contiguous lines along both dimensions.

!m = memref<?x?xbf16, strided<[?, 1]>>
!n = memref<?x?xbf16, strided<[1, ?]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @both_directions(%m: !m, %n: !n, %i: index) {
  // expected-error-re@+1 {{refused  swizzle 128B, row-major, atoms across: the tma_store at {{[0-9:]+}}: the data in global memory is column-major, but the tile is row-major; TMA moves lines as they are}}
  %t = "smem.alloc"() : () -> !t
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  "smem.tma_store"(%t, %n, %i, %i) : (!t, !n, index, index) -> ()
  return
}

// -----

// The rows are not known to begin at a swizzle pattern.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!p = !smem.tile<tensor<8x64xbf16>, #smem.auto>
func.func @part_of_a_pattern(%m: !m, %i: index) {
  // expected-error-re@+1 {{'smem.alloc' op has the layout Swizzle<3,4,3> o (64,64):(64,1), which a use rejects: the tma_store at {{[0-9:]+}}: the subtile begins at multiples of 128 bytes in its tile; TMA needs multiples of 1024}}
  %t = "smem.alloc"() : () -> !t
  %p = "smem.subtile"(%t, %i) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !p
  "smem.tma_store"(%p, %m, %i, %i) : (!p, !m, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!p = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @cut(%m: !m, %i: index) {
  // expected-error-re@+1 {{the tma_store at {{[0-9:]+}}: the subtile cuts an atom; boxes are whole atoms}}
  %t = "smem.alloc"() : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 32>} : (!t) -> !p
  "smem.tma_store"(%p, %m, %i, %i) : (!p, !m, index, index) -> ()
  return
}

// -----

// A line of three atoms, and 33 lines, cannot be divided between two CTAs.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<33x24xbf16>, #smem.auto>
func.func @indivisible(%m: !m, %i: index) attributes {known_cluster_size = array<i32: 2, 1, 1>} {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error-re@+1 {{the tma_load at {{[0-9:]+}}: 2 CTAs cannot share its copy: 33 elements do not divide by 2; the subtile cuts an atom}}
  %t = "smem.alloc"() : () -> !t
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_cluster(%m: !m, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() : () -> !t
  // expected-error@+1 {{'smem.tma_load' op has multicast = "y", but the kernel has clusters of 1x1x1 CTAs; set known_cluster_size = array<i32: x, y, z> on it}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "y"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

// Copies between tiles whose layouts exclude each other.

!f = !smem.tile<tensor<64x64xf32>, #smem.auto>
!k = !smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "row-major">>
func.func @both_ends_are_fixed(%m: memref<64x64xf32, strided<[1, ?]>>, %b: !k) {
  // expected-error-re@+1 {{refused  swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: the tile that is read is column-major, but the one that is written is row-major; smem.copy with the unit attribute relayout transposes it}}
  %s = "smem.alloc"() : () -> !f
  %t = "smem.alloc"() : () -> !k
  "smem.copy"(%m, %s) : (memref<64x64xf32, strided<[1, ?]>>, !f) -> ()
  "smem.copy"(%s, %t) : (!f, !k) -> ()
  return
}

// -----

!f = !smem.tile<tensor<64x64xf32>, #smem.auto>
!r = !smem.tile<tensor<64x64xtf32>, #smem.auto>
func.func @both_ends_are_fixed_by_uses(%m: memref<64x64xf32, strided<[1, ?]>>, %b: !smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "column-major">>) {
  // expected-error-re@+1 {{refused  swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: the tile is column-major, but the uses of the other tile need the same data row-major; smem.copy with the unit attribute relayout transposes it}}
  %s = "smem.alloc"() : () -> !f
  %t = "smem.alloc"() : () -> !r
  "smem.copy"(%m, %s) : (memref<64x64xf32, strided<[1, ?]>>, !f) -> ()
  "smem.copy"(%s, %t) : (!f, !r) -> ()
  %d = "smem.mma"(%t, %b) : (!r, !smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "column-major">>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!f = !smem.tile<tensor<64x64xf32>, #smem.layout<"(64,64):(128,2)">>
!part = !smem.tile<tensor<64x64xf32>, #smem.auto>
func.func @contiguous_along_nothing() {
  // expected-error-re@+1 {{which a use rejects: the copy at {{[0-9:]+}}: the tile is contiguous along no dimension}}
  %s = "smem.alloc"() : () -> !f
  %p = "smem.subtile"(%s) {static_offsets = array<i64: 0, 0>} : (!f) -> !part
  %t = "smem.alloc"() : () -> !part
  "smem.copy"(%p, %t) : (!part, !part) -> ()
  return
}

// -----

!f = !smem.tile<tensor<64x64xf32>, #smem.auto>
!k = !smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "row-major">>
func.func @the_other_end_is_fixed(%m: memref<64x64xf32, strided<[1, ?]>>, %b: !k) {
  %s = "smem.alloc"() : () -> !k
  // expected-error-re@+1 {{refused  swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: the tile that is read is row-major, but the one that is written is column-major; smem.copy with the unit attribute relayout transposes it}}
  %t = "smem.alloc"() : () -> !f
  "smem.copy"(%s, %t) : (!k, !f) -> ()
  "smem.copy"(%m, %t) : (memref<64x64xf32, strided<[1, ?]>>, !f) -> ()
  return
}
