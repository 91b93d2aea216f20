// RUN: smem-opt %s --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<2x64x32xbf16>, #smem.auto>
func.func @stages(%t: !t) {
  // expected-error@+1 {{'smem.transpose' op transposes a tile (rows, columns), not [2, 64, 32]; take a stage}}
  %0 = "smem.transpose"(%t) : (!t) -> !smem.tile<tensor<2x32x64xbf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @shape(%t: !t) {
  // expected-error@+1 {{'smem.transpose' op results in [64, 32], but it takes [32, 64]}}
  %0 = "smem.transpose"(%t) : (!t) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @element(%t: !t) {
  // expected-error@+1 {{'smem.transpose' op results in f16, but the tile has bf16}}
  %0 = "smem.transpose"(%t) : (!t) -> !smem.tile<tensor<32x64xf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<64x32xbf16>, #smem.auto>
func.func @early_layout(%t: !t) {
  // expected-error@+1 {{'smem.transpose' op results in a layout, but the layout of its tile is not assigned yet}}
  %0 = "smem.transpose"(%t) : (!t) -> !smem.tile<tensor<32x64xbf16>, #smem.swizzle<"64B", "column-major">>
  return
}

// -----

// The rows of a row-major tile are the columns of its transpose.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @other_layout(%t: !t) {
  // expected-error@+1 {{'smem.transpose' op results in the layout Swizzle<3,4,3> o (64,64):(64,1), but the subtile has Swizzle<3,4,3> o (64,64):(1,64)}}
  %0 = "smem.transpose"(%t) : (!t) -> !t
  return
}
