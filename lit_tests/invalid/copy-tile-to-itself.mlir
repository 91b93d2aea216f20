// RUN: smem-opt %s --smem-assign-layouts --split-input-file --verify-diagnostics

// A copy from a tile to itself.
!s = !smem.tile<tensor<64x64xf32>, #smem.auto>
func.func @itself() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() : () -> !s
  // expected-error@+1 {{'smem.copy' op copies a tile to itself; expected another one}}
  "smem.copy"(%t, %t) : (!s, !s) -> ()
  return
}

// -----

// Stages of a tile have the same layout, so the copy cannot transpose between them.
!t = !smem.tile<tensor<2x64x64xf32>, #smem.auto>
!s = !smem.tile<tensor<64x64xf32>, #smem.auto>
func.func @stages() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %a = "smem.stage"(%t, %c0) : (!t, index) -> !s
  %b = "smem.stage"(%t, %c1) : (!t, index) -> !s
  // expected-error@+1 {{'smem.copy' op the tile that is read is column-major, but the one that is written is row-major; smem.copy with the unit attribute relayout transposes it}}
  "smem.copy"(%a, %b) {permutation = array<i64: 1, 0>} : (!s, !s) -> ()
  return
}
