// Types of 4 and 6 bits: copies and mma that do not exist for them.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @padded_bf16() {
  // expected-error@+1 {{'smem.alloc' op has the element type !smem.padded<bf16>, which no tile holds}}
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64x!smem.padded<bf16>>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<64x128xf6E2M3FN>, #smem.auto>
func.func @copied(%m: memref<64x96xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies to a tile of f6E2M3FN, whose elements are padded; only smem.tma_load pads them}}
  "smem.copy"(%m, %t) : (memref<64x96xi8>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128x!smem.padded<f4E2M1FN>>, #smem.auto>
func.func @copied_from_a_tile(%s: !t, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies a tile of !smem.padded<f4E2M1FN> to a tile of !smem.padded<f4E2M1FN>; expected elements of 8 bits or more}}
  "smem.copy"(%s, %t) : (!t, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xf4E2M1FN>, #smem.auto>
func.func @packed_as_itself(%m: memref<64x128xf4E2M1FN>, %t: !t) {
  // expected-error@+1 {{'smem.copy_async' op copies f4E2M1FN to a tile of f4E2M1FN; expected i8, whose bytes hold 2 elements each, the first in the lowest bits}}
  "smem.copy_async"(%m, %t) : (memref<64x128xf4E2M1FN>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xf4E2M1FN>, #smem.auto>
func.func @transposed(%m: memref<64x64xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op has relayout, but elements of 4 bits are not transposed; expected data that is K-major}}
  "smem.copy"(%m, %t) {relayout} : (memref<64x64xi8>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xf4E2M1FN>, #smem.auto>
func.func @too_few_bytes(%m: memref<64x128xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<64x128xi8> to a tile of 64x128; take a memref.subview of static shape 64x64}}
  "smem.copy"(%m, %t) : (memref<64x128xi8>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xf6E3M2FN>, #smem.auto>
func.func @loaded_from_floats(%m: memref<64x128xf6E3M2FN>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.tma_load' op loads from a memref of f6E3M2FN, with a tile of f6E3M2FN; expected i8, whose bytes hold elements of 6 bits, packed}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) : (memref<64x128xf6E3M2FN>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xf6E3M2FN>, #smem.auto>
func.func @a_stride(%m: memref<64x96xi8, strided<[112, 1]>>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{the stride of 112 elements is not a multiple of 32 (32 bytes), which TMA needs}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) : (memref<64x96xi8, strided<[112, 1]>>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xf6E3M2FN>, #smem.auto>
func.func @a_coordinate(%m: memref<64x192xi8>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{'smem.tma_load' op loads a box that begins at 64 along dimension 1, which is contiguous; expected a multiple of 128 elements (what TMA pads at a time)}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %c64) : (memref<64x192xi8>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf6E3M2FN>, #smem.swizzle<"64B", "row-major">>
func.func @a_box(%m: memref<64x192xi8>, %t: !t, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{lines of 64 elements of e3m2_p32, but TMA pads lines of exactly 128, with swizzle 128B or 128B_ATOM_32B}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) : (memref<64x192xi8>, !t, !smem.pipeline, index, index, index) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128x!smem.padded<f4E2M1FN>>, #smem.auto>
func.func @stored(%m: memref<64x64xi8>, %t: !t, %i: index) {
  // expected-error@+1 {{'smem.tma_store' op stores a tile of !smem.padded<f4E2M1FN>, whose elements are padded; they are loaded only}}
  "smem.tma_store"(%t, %m, %i, %i) : (!t, memref<64x64xi8>, index, index) -> ()
  return
}

// -----

!a = !smem.tile<tensor<64x64xf4E2M1FN>, #smem.auto>
!b = !smem.tile<tensor<64x64xf4E2M1FN>, #smem.auto>
func.func @packed_without_scales(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op multiplies e2m1, which no tensor core does without scale factors; use smem.mma_scaled}}
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xf6E2M3FN>, #smem.auto>
!b = !smem.tile<tensor<64x64xi8>, #smem.auto>
func.func @with_integers(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op multiplies e2m3_p32 by s8; expected B of e4m3 or e5m2 or e2m3_p32 or e3m2_p32 or e2m1_p64}}
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xf6E2M3FN>, #smem.swizzle<"64B", "column-major">>
!b = !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
func.func @m_major(%a: !a, %b: !b) {
  // expected-error@+1 {{cannot read A of layout Swizzle<2,4,3> o (64,64):(1,64): the tile is M-major, but tcgen05 reads e2m3_p32 K-major only}}
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x64xf6E2M3FN>, #smem.auto>
func.func @in_registers(%t: !t) {
  // expected-error@+1 {{'smem.load' op has an A fragment of f6E2M3FN, which no instruction takes from registers}}
  %a = "smem.load"(%t) : (!t) -> !smem.fragment<tensor<64x64xf6E2M3FN>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x64xf6E2M3FN>, #smem.auto>
func.func @results(%f: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>, %t: !t) {
  // expected-error@+1 {{'smem.store' op stores f32 to a tile of f6E2M3FN; expected f32, f16, bf16, f8E4M3FN, f8E5M2}}
  "smem.store"(%f, %t) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, !t) -> ()
  return
}
