// RUN: smem-opt %s --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @stages(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op takes an element of a tile (rows, columns), not [4, 64, 64]; take a stage}}
  %o = "smem.offset"(%t, %i, %i) : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x128xf6E2M3FN>, #smem.auto>
func.func @padded(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op takes an element of f6E2M3FN, of which 16 share 16 bytes with padding; expected a type without padding}}
  %o = "smem.offset"(%t, %i, %i) : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x128x!smem.padded<f4E2M1FN>>, #smem.auto>
func.func @padded_4_bits(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op takes an element of !smem.padded<f4E2M1FN>, of which 16 share 16 bytes with padding; expected a type without padding}}
  %o = "smem.offset"(%t, %i, %i) : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @square(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op has vector = array<i64: 2, 2>; expected array<i64: 1, n> or array<i64: n, 1>, where n divides 8, the elements of 16 bytes, and fills bytes}}
  %o = "smem.offset"(%t, %i, %i) {vector = array<i64: 2, 2>} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @too_long(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op has vector = array<i64: 1, 16>; expected array<i64: 1, n> or array<i64: n, 1>, where n divides 8, the elements of 16 bytes, and fills bytes}}
  %o = "smem.offset"(%t, %i, %i) {vector = array<i64: 1, 16>} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @odd(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op has vector = array<i64: 1, 3>; expected array<i64: 1, n> or array<i64: n, 1>, where n divides 8, the elements of 16 bytes, and fills bytes}}
  %o = "smem.offset"(%t, %i, %i) {vector = array<i64: 1, 3>} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @zero(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op has vector = array<i64: 0, 1>; expected array<i64: 1, n> or array<i64: n, 1>, where n divides 8, the elements of 16 bytes, and fills bytes}}
  %o = "smem.offset"(%t, %i, %i) {vector = array<i64: 0, 1>} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @one_number(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op has vector = 8 : i64; expected array<i64: 1, n> or array<i64: n, 1>, where n divides 8, the elements of 16 bytes, and fills bytes}}
  %o = "smem.offset"(%t, %i, %i) {vector = 8 : i64} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<8x128xf4E2M1FN>, #smem.auto>
func.func @half_a_byte(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op has vector = array<i64: 1, 1>; expected array<i64: 1, n> or array<i64: n, 1>, where n divides 32, the elements of 16 bytes, and fills bytes}}
  %o = "smem.offset"(%t, %i, %i) {vector = array<i64: 1, 1>} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @row_64(%t: !t, %i: index) {
  %c64 = arith.constant 64 : index
  // expected-error@+1 {{'smem.offset' op takes row 64 of a tile of 64 rows}}
  %o = "smem.offset"(%t, %c64, %i) : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @below(%t: !t, %i: index) {
  %c = arith.constant -1 : index
  // expected-error@+1 {{'smem.offset' op takes column -1 of a tile of 64 columns}}
  %o = "smem.offset"(%t, %i, %c) : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @leaves(%t: !t, %i: index) {
  %c60 = arith.constant 60 : index
  // expected-error@+1 {{'smem.offset' op takes column 60 to 67 of a tile of 64 columns}}
  %o = "smem.offset"(%t, %i, %c60) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @between(%t: !t, %i: index) {
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{'smem.offset' op takes a vector at column 4; expected a multiple of 8}}
  %o = "smem.offset"(%t, %i, %c4) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
func.func @other_direction(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.offset' op 8 elements of a row are not contiguous in the layout Swizzle<3,4,3> o (64,64):(1,64)}}
  %o = "smem.offset"(%t, %i, %i) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
  return
}
