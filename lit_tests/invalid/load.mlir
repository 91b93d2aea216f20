// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @in_flight(%s: memref<64x16xf32>) {
  // expected-error@+1 {{'smem.load' op results in !smem.fragment<tensor<64x16xf32>, #smem.in_flight>; expected #smem.accumulator}}
  %0 = "smem.load"(%s) : (memref<64x16xf32>) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

func.func @neither(%s: i32) {
  // expected-error@+1 {{'smem.load' op loads from a tile or a memref, not i32}}
  %0 = "smem.load"(%s) : (i32) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @fragment_again(%s: !c) {
  // expected-error@+1 {{'smem.load' op loads from a tile or a memref, not !smem.fragment<tensor<64x16xf32>, #smem.accumulator>}}
  %0 = "smem.load"(%s) : (!c) -> !c
  return
}

// -----

func.func @unranked(%s: memref<*xf32>) {
  // expected-error@+1 {{'smem.load' op loads from a tile or a memref, not memref<*xf32>}}
  %0 = "smem.load"(%s) : (memref<*xf32>) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

func.func @workgroup(%s: memref<64x16xf32, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'smem.load' op loads from global memory, not from memory space #gpu.address_space<workgroup>}}
  %0 = "smem.load"(%s) : (memref<64x16xf32, #gpu.address_space<workgroup>>) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

func.func @dynamic(%s: memref<?x8xf32>) {
  // expected-error@+1 {{'smem.load' op loads a fragment of 64x16 from memref<?x8xf32>; take a memref.subview of static shape 64x16, of ?x16 or ?x? for the elements that there are, or of GxRx16 with G * R = 64}}
  %0 = "smem.load"(%s) : (memref<?x8xf32>) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

func.func @rank(%s: memref<3x64x16xf32>) {
  // expected-error@+1 {{'smem.load' op loads a fragment of 64x16 from memref<3x64x16xf32>; take a memref.subview of static shape 64x16, of ?x16 or ?x? for the elements that there are, or of GxRx16 with G * R = 64}}
  %0 = "smem.load"(%s) : (memref<3x64x16xf32>) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

func.func @element(%s: memref<64x16xf64>) {
  // expected-error@+1 {{'smem.load' op loads f32 from f64; expected f32, f16, bf16}}
  %0 = "smem.load"(%s) : (memref<64x16xf64>) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

// Elements are widened by a load, not narrowed.

func.func @not_narrowed(%s: memref<64x16xf32>) {
  // expected-error@+1 {{'smem.load' op loads f16 from f32; expected f16}}
  %0 = "smem.load"(%s) : (memref<64x16xf32>) -> !smem.fragment<tensor<64x16xf16>, #smem.accumulator>
  return
}

// -----

func.func @integers(%s: memref<64x16xi8>) {
  // expected-error@+1 {{'smem.load' op loads i32 from i8; expected i32}}
  %0 = "smem.load"(%s) : (memref<64x16xi8>) -> !smem.fragment<tensor<64x16xi32>, #smem.accumulator>
  return
}

// -----

!m = memref<64x16xf32, affine_map<(i, j) -> (i floordiv 8, j, i mod 8)>>
func.func @no_strides(%s: !m) {
  // expected-error@+1 {{'smem.load' op takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<64x16xf32, affine_map<(d0, d1) -> (d0 floordiv 8, d1, d0 mod 8)>>}}
  %0 = "smem.load"(%s) : (!m) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @stages(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads tensor<64x64xbf16> from tensor<4x64x64xbf16>; take a stage or a subtile of that shape}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x32xf32>, #smem.auto>
func.func @tile_shape(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads tensor<64x64xf32> from tensor<64x32xf32>; take a stage or a subtile of that shape}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x?xf32>, #smem.auto>
func.func @tile_dynamic(%s: !t) {
  // expected-error@+1 {{'smem.load' op expected a ranked tensor of static shape as the first parameter, not tensor<64x?xf32>}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x64xtf32>, #smem.auto>
func.func @tile_of_tf32(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads f32 from a tile of tf32; expected f32, f16, bf16}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x64xi8>, #smem.auto>
func.func @tile_of_integers(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads i32 from a tile of i8; expected i32}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xi32>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x64xi32>, #smem.auto>
func.func @no_multiplicand(%s: !t) {
  // expected-error@+1 {{'smem.load' op has an A fragment of i32, which no instruction takes from registers}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xi32>, #smem.a_fragment>
  return
}

// -----

func.func @multiplicand_of_global_memory(%s: memref<64x64xbf16>) {
  // expected-error@+1 {{'smem.load' op loads an A fragment from a tile, not from memref<64x64xbf16>; copy it to a tile}}
  %0 = "smem.load"(%s) : (memref<64x64xbf16>) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @multiplicand_element(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads an A fragment of f16 from a tile of bf16; expected f16}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x24xbf16>, #smem.auto>
func.func @multiplicand_k(%s: !t) {
  // expected-error@+1 {{'smem.load' op has an A fragment of [64, 24]; expected (M, K) with M a multiple of 64 and K of 16 for bf16}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x24xbf16>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<32x64xbf16>, #smem.auto>
func.func @multiplicand_rows(%s: !t) {
  // expected-error@+1 {{'smem.load' op has an A fragment of [32, 64]; expected (M, K) with M a multiple of 64 and K of 16 for bf16}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<32x64xbf16>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @multiplicand_rank(%s: !t) {
  // expected-error@+1 {{'smem.load' op has an A fragment of [64]; expected (M, K) with M a multiple of 64 and K of 16 for bf16}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64xbf16>, #smem.a_fragment>
  return
}

// -----

// A register holds 32 bits of a row: gathering them from 32 lines is refused.

!t = !smem.tile<tensor<64x256xi1>, #smem.swizzle<"none", "column-major">>
func.func @bits_apart(%s: !t) {
  // expected-error@+1 {{'smem.load' op cannot load from a tile of layout Swizzle<0,4,3> o (64,256):(1,128): registers hold 32 elements of b1 along k, which must be adjacent in memory; expected contiguous rows at multiples of 32 elements}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x256xi1>, #smem.a_fragment>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @metadata_of_a_tile(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads metadata of tensor<64x64xbf16> from !smem.tile<tensor<64x64xbf16>, #smem.auto>; expected a memref of 1x1x128xi32}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
  return
}

// -----

// K = 64 of 16-bit types is two instructions, which share a word; of 8-bit types it is one.

func.func @metadata_shape(%s: memref<1x2x128xi32>) {
  // expected-error@+1 {{'smem.load' op loads metadata of tensor<64x64xbf16> from memref<1x2x128xi32>; expected a memref of 1x1x128xi32}}
  %0 = "smem.load"(%s) : (memref<1x2x128xi32>) -> !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
  return
}

// -----

func.func @metadata_dynamic(%s: memref<?x1x128xi32>) {
  // expected-error@+1 {{'smem.load' op loads metadata of tensor<64x64xbf16> from memref<?x1x128xi32>; expected a memref of 1x1x128xi32}}
  %0 = "smem.load"(%s) : (memref<?x1x128xi32>) -> !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
  return
}

// -----

func.func @metadata_element(%s: memref<1x1x128xf32>) {
  // expected-error@+1 {{'smem.load' op loads metadata of tensor<64x64xf8E4M3FN> from memref<1x1x128xf32>; expected a memref of 1x1x128xi32}}
  %0 = "smem.load"(%s) : (memref<1x1x128xf32>) -> !smem.fragment<tensor<64x64xf8E4M3FN>, #smem.metadata>
  return
}

// -----

func.func @metadata_workgroup(%s: memref<1x1x128xi32, 3>) {
  // expected-error@+1 {{'smem.load' op loads metadata from global memory, not from memory space 3 : i64}}
  %0 = "smem.load"(%s) : (memref<1x1x128xi32, 3>) -> !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
  return
}

// -----

!m = memref<1x1x128xi32, affine_map<(i, j, k) -> (i, k floordiv 8, j, k mod 8)>>
func.func @metadata_no_strides(%s: !m) {
  // expected-error@+1 {{'smem.load' op takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<1x1x128xi32, affine_map<(d0, d1, d2) -> (d0, d2 floordiv 8, d1, d2 mod 8)>>}}
  %0 = "smem.load"(%s) : (!m) -> !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
  return
}

// -----

func.func @metadata_k(%s: memref<1x1x128xi32>) {
  // expected-error@+1 {{'smem.load' op has metadata of [64, 48]; expected (M, K) with M a multiple of 64 and K of 32 for bf16}}
  %0 = "smem.load"(%s) : (memref<1x1x128xi32>) -> !smem.fragment<tensor<64x48xbf16>, #smem.metadata>
  return
}

// -----

func.func @metadata_bits(%s: memref<1x1x128xi32>) {
  // expected-error@+1 {{'smem.load' op has metadata of b1, of which there is no sparse mma}}
  %0 = "smem.load"(%s) : (memref<1x1x128xi32>) -> !smem.fragment<tensor<64x512xi1>, #smem.metadata>
  return
}

// -----

func.func @remote_memref(%s: memref<64x16xf32>, %r: index) {
  // expected-error@+1 {{'smem.load' op has a rank, but loads from memref<64x16xf32>; expected a tile of another CTA}}
  %0 = "smem.load"(%s, %r) : (memref<64x16xf32>, index) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

func.func @remote_a(%t: !smem.tile<tensor<64x64xbf16>, #smem.auto>, %r: index) {
  // expected-error@+1 {{'smem.load' op has a rank, but loads !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>; expected #smem.accumulator}}
  %0 = "smem.load"(%t, %r) : (!smem.tile<tensor<64x64xbf16>, #smem.auto>, index) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  return
}

// -----

func.func @remote_negative(%t: !smem.tile<tensor<64x64xf32>, #smem.auto>) {
  %r = arith.constant -1 : index
  // expected-error@+1 {{'smem.load' op has rank = -1; expected the rank of a CTA in its cluster, 0 or more}}
  %0 = "smem.load"(%t, %r) : (!smem.tile<tensor<64x64xf32>, #smem.auto>, index) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

// 4-bit elements are in half as many columns of 8 bits.

!t = !smem.tile<tensor<64x64xui8>, #smem.auto>
func.func @nibbles_of_all_columns(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads tensor<64x64xui4> from tensor<64x64xui8>; take a stage or a subtile of that shape}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x64xui4>, #smem.accumulator>
  return
}

// -----

func.func @nibbles_of_global_memory(%s: memref<64x64xi8>) {
  // expected-error@+1 {{'smem.load' op loads a fragment of 64x32 from memref<64x64xi8>; take a memref.subview of static shape 64x32}}
  %0 = "smem.load"(%s) : (memref<64x64xi8>) -> !smem.fragment<tensor<64x64xi4>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x16xbf16>, #smem.auto>
func.func @nibbles_of_floats(%s: !t) {
  // expected-error@+1 {{'smem.load' op loads i4 from a tile of bf16; expected i8, si8, ui8}}
  %0 = "smem.load"(%s) : (!t) -> !smem.fragment<tensor<64x32xi4>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x64xui8>, #smem.auto>
func.func @interleaved_bytes(%s: !t) {
  // expected-error@+1 {{'smem.load' op has interleaved, but loads tensor<64x64xui8> from !smem.tile<tensor<64x64xui8>, #smem.auto>; expected elements of 4 bits of a tile of the CTA, with columns in multiples of 32}}
  %0 = "smem.load"(%s) {interleaved} : (!t) -> !smem.fragment<tensor<64x64xui8>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x64xui8>, #smem.auto>
func.func @interleaved_of_another_cta(%s: !t, %rank: index) {
  // expected-error@+1 {{'smem.load' op has interleaved, but loads tensor<64x128xi4> from the tile of another CTA}}
  %0 = "smem.load"(%s, %rank) {interleaved} : (!t, index) -> !smem.fragment<tensor<64x128xi4>, #smem.accumulator>
  return
}

// -----

!t = !smem.tile<tensor<64x64xui8>, #smem.swizzle<"none", "column-major">>
func.func @interleaved_across_rows(%s: !t) {
  // expected-error@+1 {{4 bytes of a row are not contiguous in it}}
  %0 = "smem.load"(%s) {interleaved} : (!t) -> !smem.fragment<tensor<64x128xi4>, #smem.accumulator>
  return
}
