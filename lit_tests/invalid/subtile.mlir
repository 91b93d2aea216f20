// RUN: smem-opt %s --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @stages(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op takes a subtile of a tile (rows, columns), not [4, 64, 64]; take a stage}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @offsets_form(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op takes static_offsets = array<i64: row, column>, not array<i64: 0>}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0>} : (!t) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @offsets_type(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op takes static_offsets = array<i64: row, column>, not array<i32: 0, 0>}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i32: 0, 0>} : (!t) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @operand_count(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.subtile' op has 1 offset operands for 0 run-time offsets}}
  %0 = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, 0>} : (!t, index) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @promise_count(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.subtile' op takes multiple_of with a positive number for each of 1 run-time offsets, not array<i64: 8, 8>}}
  %0 = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 8, 8>} : (!t, index) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @promise_zero(%t: !t, %i: index) {
  // expected-error@+1 {{takes multiple_of with a positive number for each of 1 run-time offsets, not array<i64: 0>}}
  %0 = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 0>} : (!t, index) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @promise_type(%t: !t, %i: index) {
  // expected-error@+1 {{takes multiple_of with a positive number for each of 1 run-time offsets, not 8 : i64}}
  %0 = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = 8} : (!t, index) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @beyond(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op takes elements 48 to 79 of dimension 1, which has 64}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0, 48>} : (!t) -> !smem.tile<tensor<64x32xbf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @before(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op takes elements -8 to 55 of dimension 0, which has 64}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: -8, 0>} : (!t) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @rank(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op results in [1, 64, 64], but it takes [64, 64]}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !smem.tile<tensor<1x64x64xbf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @element(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op results in f16, but the tile has bf16}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !smem.tile<tensor<64x64xf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @larger_than_the_tile(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.subtile' op a slice of 128 elements does not fit dimension 0 of 64}}
  %0 = "smem.subtile"(%t, %i) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !smem.tile<tensor<128x64xbf16>, #smem.auto>
  return
}

// -----

// 128 columns are two atoms of 64, which are 64 * 64 elements apart.

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @another_origin(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op results in the layout Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,16), but the subtile has Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,32)}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0, 32>} : (!t) -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">>
  return
}

// -----

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @origin_forgotten(%t: !t) {
  // expected-error@+1 {{'smem.subtile' op results in the layout Swizzle<3,4,3> o (64,64):(64,1), but the subtile has Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,32)}}
  %0 = "smem.subtile"(%t) {static_offsets = array<i64: 0, 32>} : (!t) -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
  return
}

// -----

// The type can have fewer divisors of a run-time offset than the op, but not more.

!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @promises_too_much(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.subtile' op results in the layout Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,32n), but the subtile has Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,16n)}}
  %0 = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 16>} : (!t, index) -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,32n)">>
  return
}

// -----

// An operand that is a constant is checked like a static offset; `smem-check-async` checks others.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @constant_operand(%t: !t) {
  %c1 = arith.constant 1 : index
  // expected-error@+1 {{'smem.subtile' op takes elements 1 to 64 of dimension 1, which has 64}}
  %0 = "smem.subtile"(%t, %c1) {static_offsets = array<i64: 0, -9223372036854775808>} : (!t, index) -> !t
  return
}
