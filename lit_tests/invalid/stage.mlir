// RUN: smem-opt %s --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @no_stages(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.stage' op takes a stage of a tile (stages, rows, columns), not [64, 64]}}
  %0 = "smem.stage"(%t, %i) : (!t, index) -> !t
  return
}

// -----

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @shape(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.stage' op results in [64, 32], but it takes [64, 64]}}
  %0 = "smem.stage"(%t, %i) : (!t, index) -> !smem.tile<tensor<64x32xbf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @element(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.stage' op results in f16, but the tile has bf16}}
  %0 = "smem.stage"(%t, %i) : (!t, index) -> !smem.tile<tensor<64x64xf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @early_layout(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.stage' op results in a layout, but the layout of its tile is not assigned yet}}
  %0 = "smem.stage"(%t, %i) : (!t, index) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  return
}

// -----

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @other_layout(%t: !t, %i: index) {
  // expected-error@+1 {{'smem.stage' op results in the layout Swizzle<2,4,3> o (64,(32,2)):(32,(1,2048)), but the subtile has Swizzle<3,4,3> o (64,64):(64,1)}}
  %0 = "smem.stage"(%t, %i) : (!t, index) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"64B", "row-major">>
  return
}

// -----

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @beyond(%t: !t) {
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{'smem.stage' op takes stage 4 of a tile that has 4}}
  %0 = "smem.stage"(%t, %c4) : (!t, index) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// -----

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
func.func @before(%t: !t) {
  %minus = arith.constant -1 : index
  // expected-error@+1 {{'smem.stage' op takes stage -1 of a tile that has 4}}
  %0 = "smem.stage"(%t, %minus) : (!t, index) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}
