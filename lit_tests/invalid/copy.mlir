// RUN: smem-opt %s --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @stages(%m: memref<4x64x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies to a tile (rows, columns), not [4, 64, 64]; take a stage}}
  "smem.copy"(%m, %t) : (memref<4x64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @vector(%m: memref<4096xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from memref<4096xbf16>; expected a matrix of rank 2}}
  "smem.copy"(%m, %t) : (memref<4096xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @workgroup(%m: memref<64x64xbf16, #gpu.address_space<workgroup>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from global memory, not from memory space #gpu.address_space<workgroup>}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16, #gpu.address_space<workgroup>>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @shape(%m: memref<32x?xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<32x?xbf16> to a tile of 64x64; take a memref.subview of static shape 64x64}}
  "smem.copy"(%m, %t) : (memref<32x?xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @matrices(%m: memref<2x32x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from memref<2x32x64xbf16>; expected a matrix of rank 2}}
  "smem.copy"(%m, %t) : (memref<2x32x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @element(%m: memref<64x64xf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies f16 to a tile of bf16}}
  "smem.copy"(%m, %t) : (memref<64x64xf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_unit_stride(%m: memref<64x64xbf16, strided<[?, ?]>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from memref<64x64xbf16, strided<[?, ?]>>, in which no dimension has the stride 1; 16-byte accesses need one, for example strided<[?, 1], offset: ?>}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16, strided<[?, ?]>>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x60xbf16>, #smem.auto>
func.func @short_line(%m: memref<64x60xbf16, strided<[?, 1]>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op a line of 60 elements of bf16 is not a multiple of 8, the elements of a 16-byte access}}
  "smem.copy"(%m, %t) : (memref<64x60xbf16, strided<[?, 1]>>, !t) -> ()
  return
}

// -----

// The layout must keep 16 bytes of a line contiguous.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
func.func @turned(%m: memref<64x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op the data in global memory is row-major, but the tile is column-major; smem.copy with the unit attribute relayout transposes it}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @turned(%m: memref<64x64xbf16, strided<[1, ?]>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op the data in global memory is column-major, but the tile is row-major; smem.copy with the unit attribute relayout transposes it}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16, strided<[1, ?]>>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(128,2)">>
func.func @every_second_element(%m: memref<64x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op the data in global memory is row-major, but the tile is contiguous along no dimension}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,(4,16)):(4,(1,256))">>
func.func @short_runs(%m: memref<64x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op 16-byte accesses need 8 elements in a row and strides that are multiples of it; the tile has runs of 4 and strides [4, 256]}}
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

// The same rules apply to copy_async.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @async(%m: memref<64x64xf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy_async' op copies f16 to a tile of bf16}}
  "smem.copy_async"(%m, %t) : (memref<64x64xf16>, !t) -> ()
  return
}

// -----

// A memref whose layout is not strided.

!m = memref<64x64xbf16, affine_map<(i, j) -> (i floordiv 8, j, i mod 8)>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_strides(%m: !m, %t: !t) {
  // expected-error@+1 {{'smem.copy' op takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<64x64xbf16, affine_map<(d0, d1) -> (d0 floordiv 8, d1, d0 mod 8)>>}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

// Lines that are misaligned by the memref type.

!m = memref<64x64xbf16, strided<[68, 1]>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @misaligned_lines(%m: !m, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from memref<64x64xbf16, strided<[68, 1]>>: the stride of 68 elements is not a multiple of 8, the elements of a 16-byte access}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

!m = memref<64x64xbf16, strided<[64, 1], offset: 4>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @misaligned_start(%m: !m, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from memref<64x64xbf16, strided<[64, 1], offset: 4>>: the offset of 4 elements is not a multiple of 8, the elements of a 16-byte access}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x256xi1>, #smem.auto>
func.func @bits(%m: memref<64x256xi1>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies i1 to a tile of i1; expected i8, whose bytes hold 8 elements each, the first in the lowest bit}}
  "smem.copy"(%m, %t) : (memref<64x256xi1>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x256xi1>, #smem.auto>
func.func @packed_shape(%m: memref<64x256xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<64x256xi8> to a tile of 64x256; take a memref.subview of static shape 64x32}}
  "smem.copy"(%m, %t) : (memref<64x256xi8>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x32xtf32>, #smem.auto>
func.func @rounded_on_the_way(%m: memref<64x32xf32>, %t: !t) {
  // expected-error@+1 {{'smem.copy_async' op copies f32 to a tile of tf32, which needs rounding; use smem.copy, which rounds, or a tile of f32 and the attribute truncate of smem.mma}}
  "smem.copy_async"(%m, %t) : (memref<64x32xf32>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x32xtf32>, #smem.auto>
func.func @tf32_in_memory(%m: memref<64x32xtf32>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies tf32, which no memory holds; expected f32, which the copy rounds to tf32}}
  "smem.copy"(%m, %t) : (memref<64x32xtf32>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x32xf8E4M3FN>, #smem.auto>
func.func @other_bytes(%m: memref<64x32xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies i8 to a tile of f8E4M3FN}}
  "smem.copy"(%m, %t) : (memref<64x32xi8>, !t) -> ()
  return
}

// -----

// A permutation exchanges the shape and the contiguous dimension, too.

!t = !smem.tile<tensor<64x128xbf16>, #smem.auto>
func.func @shape_exchanged(%m: memref<64x128xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<64x128xbf16> to a tile of 64x128 by permutation [1, 0]; take a memref.subview of static shape 128x64}}
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>} : (memref<64x128xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @indices_alone(%m: memref<128x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op the data in global memory is column-major, but the tile is row-major; smem.copy with the unit attribute relayout transposes it}}
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 0>} : (memref<128x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_permutation(%m: memref<64x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op has permutation = array<i64: 1, 1>; expected array<i64: 1, 0> to exchange rows and columns, or array<i64: 0, 1>}}
  "smem.copy"(%m, %t) {permutation = array<i64: 1, 1>} : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @permutation_of_another_kind(%m: memref<64x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy_async' op has permutation = [1, 0]; expected array<i64: 1, 0> to exchange rows and columns}}
  "smem.copy_async"(%m, %t) {permutation = [1, 0]} : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @relayout_of_a_value(%m: memref<64x64xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op has relayout = false; expected a unit attribute, without a value}}
  "smem.copy"(%m, %t) {relayout = false} : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

// Unknown attributes are rejected, except for those of other dialects.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @unknown_word(%m: memref<64x64xbf16>, %t: !t) {
  "smem.copy"(%m, %t) {other.word} : (memref<64x64xbf16>, !t) -> ()
  // expected-error@+1 {{'smem.copy' op has the attribute perm; expected permutation or relayout}}
  "smem.copy"(%m, %t) {perm = array<i64: 1, 0>} : (memref<64x64xbf16>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x128xi8>, #smem.auto>
func.func @async_relayout(%m: memref<128x64xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy_async' op has relayout, but cp.async moves bytes as they are; only smem.copy can transpose them}}
  "smem.copy_async"(%m, %t) {permutation = array<i64: 1, 0>, relayout} : (memref<128x64xi8>, !t) -> ()
  return
}

// -----

// A transposed copy moves whole blocks, with the alignment of other copies.

!t = !smem.tile<tensor<62x128xi8>, #smem.swizzle<"128B", "row-major">>
func.func @no_whole_blocks(%m: memref<62x128xi8, strided<[1, 64]>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op s8 is transposed in blocks of 4 or more elements of global memory; the tile has 62 rows}}
  "smem.copy"(%m, %t) {relayout} : (memref<62x128xi8, strided<[1, 64]>>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<24x64xi8>, #smem.swizzle<"32B", "column-major">>
func.func @no_whole_units(%m: memref<24x64xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op a line of 24 elements of s8 is not a multiple of 16, the elements of a 16-byte access}}
  "smem.copy"(%m, %t) {relayout} : (memref<24x64xi8>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<24x128xi8>, #smem.swizzle<"128B", "row-major">>
func.func @misaligned_lines(%m: memref<24x128xi8, strided<[1, 24]>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from memref<24x128xi8, strided<[1, 24]>>: the stride of 24 elements is not a multiple of 16, the elements of a 16-byte access}}
  "smem.copy"(%m, %t) {relayout} : (memref<24x128xi8, strided<[1, 24]>>, !t) -> ()
  return
}

// -----

// From a tile: the same rules; its layout determines the contiguous dimension.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @stages_of_a_tile(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from a tile (rows, columns), not [2, 64, 64]; take a stage}}
  "smem.copy"(%s, %t) : (!s, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @shape_of_a_tile(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies a tile of 64x128 to a tile of 64x64; take an smem.subtile of 64x64}}
  "smem.copy"(%s, %t) : (!s, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x128xbf16>, #smem.auto>
func.func @shape_of_a_tile_exchanged(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies a tile of 64x128 to a tile of 64x128 by permutation [1, 0]; take an smem.subtile of 128x64}}
  "smem.copy"(%s, %t) {permutation = array<i64: 1, 0>} : (!s, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<64x64xf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @elements_of_a_tile(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies a tile of f16 to a tile of bf16}}
  "smem.copy"(%s, %t) : (!s, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x256xi1>, #smem.auto>
func.func @bits_of_a_tile(%s: !t, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies a tile of i1 to a tile of i1; expected elements of 8 bits or more}}
  "smem.copy"(%s, %t) : (!t, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
func.func @turned(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op the tile that is read is row-major, but the one that is written is column-major; smem.copy with the unit attribute relayout transposes it}}
  "smem.copy"(%s, %t) : (!s, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(128,2)">>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @every_second_element_of_a_tile(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op the tile that is read is contiguous along no dimension}}
  "smem.copy"(%s, %t) {relayout} : (!s, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,(4,16)):(4,(1,256))">>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @short_runs_of_a_tile(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op of the tile that is read: 16-byte accesses need 8 elements in a row and strides that are multiples of it; the tile has runs of 4 and strides [4, 256]}}
  "smem.copy"(%s, %t) : (!s, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<20x64xbf16>, #smem.swizzle<"32B", "column-major">>
!t = !smem.tile<tensor<20x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @short_lines_of_a_tile(%s: !s, %t: !t) {
  // expected-error@+1 {{'smem.copy' op of the tile that is read: a line of 20 elements of bf16 is not a multiple of 8, the elements of a 16-byte access}}
  "smem.copy"(%s, %t) {relayout} : (!s, !t) -> ()
  return
}

// -----

// cp.async reads global memory only.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @async_from_a_tile(%s: !t, %t: !t) {
  // expected-error@+1 {{'smem.copy_async' op copies from a tile, but cp.async reads global memory; use smem.copy}}
  "smem.copy_async"(%s, %t) : (!t, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @neither_memref_nor_tile(%s: i32, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies from a tile or a memref, not i32}}
  "smem.copy"(%s, %t) : (i32, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @async_from_an_unranked_memref(%s: memref<*xbf16>, %t: !t) {
  // expected-error@+1 {{'smem.copy_async' op copies from a memref, not memref<*xbf16>}}
  "smem.copy_async"(%s, %t) : (memref<*xbf16>, !t) -> ()
  return
}
