// RUN: smem-opt %s --split-input-file --verify-diagnostics

// Attributes of a load and a store.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @multicast(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op has multicast = "z"; expected "x" or "y"}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = "z"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @multicast_number(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op has multicast = 2 : i32; expected "x" or "y"}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicast = 2 : i32} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @cache(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op has cache = "evict"; expected "evict_first" or "evict_last" or "evict_normal"}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {cache = "evict"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @cache_of_store(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op has cache = true; expected "evict_first" or "evict_last" or "evict_normal"}}
  "smem.tma_store"(%t, %m, %i, %i) {cache = true} : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @unknown(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op has the attribute multicasts; expected multicast or cache}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) {multicasts = "x"} : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @multicast_of_store(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op has the attribute multicast; expected cache}}
  "smem.tma_store"(%t, %m, %i, %i) {multicast = "x"} : (!t, !m, index, index) -> ()
  return
}

// -----

// Memrefs that a tensor map can describe.

!m = memref<64x64xbf16, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @workgroup(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from global memory, not from memory space #gpu.address_space<workgroup>}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<64x64xbf16, 5>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @space(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores to global memory, not to memory space 5 : i64}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<?xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @vector(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from memref<?xbf16>; a tensor map has 2 to 5 dimensions, not 1}}
  "smem.tma_load"(%m, %t, %r, %i, %i) : (!m, !t, !smem.pipeline, index, index) -> ()
  return
}

// -----

!m = memref<2x2x2x2x64x64xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @rank_6(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores to memref<2x2x2x2x64x64xbf16>; a tensor map has 2 to 5 dimensions, not 6}}
  "smem.tma_store"(%t, %m, %i, %i, %i, %i, %i, %i) : (!t, !m, index, index, index, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @coordinates(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from memref<?x?xbf16, strided<[?, 1]>> at 3 coordinates; expected 2}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index, index) -> ()
  return
}

// -----

!m = memref<4x64x64xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_batch(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores to memref<4x64x64xbf16> at 2 coordinates; expected 3}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<64x64xbf16, strided<[64, 1], offset: 8>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @offset(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from memref<64x64xbf16, strided<[64, 1], offset: 8>>, which has an offset; give the start by the coordinates}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<64x64xbf16, strided<[64, 1], offset: ?>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @unknown_offset(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores to memref<64x64xbf16, strided<[64, 1], offset: ?>>, which has an offset; give the start by the coordinates}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<64x64xbf16, affine_map<(i, j) -> (j floordiv 2, i)>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_strides(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<64x64xbf16, affine_map<(d0, d1) -> (d1 floordiv 2, d0)>>}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, ?]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @nowhere_contiguous(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op takes memref<?x?xbf16, strided<[?, ?]>>, in which neither of the last two dimensions has the stride 1; TMA needs one, for example strided<[?, 1]>}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?x?xbf16, strided<[1, ?, ?]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @contiguous_in_front(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op takes memref<?x?x?xbf16, strided<[1, ?, ?]>>, in which neither of the last two dimensions has the stride 1; TMA needs one, for example strided<[?, 1]>}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index, index) -> ()
  return
}

// -----

// 60 bf16 are 120 bytes.

!m = memref<64x60xbf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @rows(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from memref<64x60xbf16>: the stride of 60 elements is not a multiple of 8 (16 bytes), which TMA needs}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<4x64x64xi8, strided<[4100, 64, 1]>>
!t = !smem.tile<tensor<64x64xi8>, #smem.auto>
func.func @batches(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores to memref<4x64x64xi8, strided<[4100, 64, 1]>>: the stride of 4100 elements is not a multiple of 16 (16 bytes), which TMA needs}}
  "smem.tma_store"(%t, %m, %i, %i, %i) : (!t, !m, index, index, index) -> ()
  return
}

// -----

// TMA converts no elements.

!m = memref<64x64xf16>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @element(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from a memref of f16, with a tile of bf16; expected bf16}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<64x64xf32>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @element_of_store(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores to a memref of f32, with a tile of bf16; expected bf16}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<64x64xbf16>
!t = !smem.tile<tensor<64x32xtf32>, #smem.auto>
func.func @rounded(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from a memref of bf16, with a tile of tf32; expected f32}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<64x64xi1>
!t = !smem.tile<tensor<64x128xi1>, #smem.auto>
func.func @bits(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from a memref of i1, with a tile of i1; expected i8, whose bytes hold 8 elements}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xindex, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_number(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores to a memref of index, with a tile of bf16; expected bf16}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

// A tile with stages: take a stage.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @stages(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads a tile (rows, columns), not [4, 64, 64]; take a stage}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

// Tiles with an assigned layout.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
func.func @turned(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op the data in global memory is row-major, but the tile is column-major; TMA moves lines as they are}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[1, ?]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @turned_store(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op the data in global memory is column-major, but the tile is row-major; TMA moves lines as they are}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x72xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @padded(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op boxes of 64x64 elements do not divide a tile of 64x72}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">>
func.func @cut(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op the subtile cuts an atom; boxes are whole atoms}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(72,1)">>
func.func @apart(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op lines of 64 elements are 72 elements apart; the lines of a tensor map's box are adjacent}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x4xbf16>, #smem.layout<"(64,4):(4,1)">>
func.func @short_lines(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op a line of 4 elements of bf16 is no multiple of 16 bytes}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(128,2)">>
func.func @no_lines(%m: !m, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op the tile is contiguous along no dimension; a box has lines}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, !m, index, index) -> ()
  return
}

// -----

// 12 rows of 16 bytes are 192 bytes: the second box would begin there.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<12x512xbf16>, #smem.layout<"(12,(8,64)):(8,(1,96))">>
func.func @misaligned_boxes(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op a box of 12x8 begins 192 bytes into the tile, no multiple of 128}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

// Constant coordinates at which the chip traps.

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @between_units(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %c = arith.constant 12 : index
  // expected-error@+1 {{'smem.tma_load' op loads a box that begins at 12 along dimension 1, which is contiguous; expected a multiple of 8 elements (16 bytes)}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %c) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[1, ?]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @before_the_first(%m: !m, %t: !t, %i: index) {
  %c = arith.constant -3 : index
  // expected-error@+1 {{'smem.tma_store' op stores to coordinate -3 along dimension 1; expected 0 or more}}
  "smem.tma_store"(%t, %m, %i, %c) : (!t, !m, index, index) -> ()
  return
}

// -----

// expected-error@+1 {{'smem.tma_wait' op has pending = -1; expected 0 or more groups}}
"smem.tma_wait"() {pending = -1 : i32} : () -> ()

// -----

// expected-error@+1 {{'smem.tma_wait' op has the attribute reads; expected pending or read}}
"smem.tma_wait"() {pending = 0 : i32, reads} : () -> ()

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<2x64xbf16>, #smem.layout<"(2,64):(72,1)">>
func.func @two_lines_apart(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op lines of 64 elements are 72 elements apart; the lines of a tensor map's box are adjacent}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!m = memref<?x?xbf16, strided<[?, 1]>>
!t = !smem.tile<tensor<64x512xbf16>, #smem.layout<"(64,512):(512,1)">>
func.func @wider_than_a_box(%m: !m, %t: !t, %i: index) {
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op lines of 256 elements are 512 elements apart; the lines of a tensor map's box are adjacent}}
  "smem.tma_load"(%m, %t, %r, %i, %i, %i) : (!m, !t, !smem.pipeline, index, index, index) -> ()
  return
}
