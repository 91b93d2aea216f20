// RUN: smem-opt %s --split-input-file --verify-diagnostics

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x32xf32>, #smem.in_flight>
func.func @in_flight(%d: !d) {
  // expected-error@+1 {{'smem.columns' op reads an accumulator in flight; put an smem.wait before it}}
  %0 = "smem.columns"(%d) {first = 0 : i64} : (!d) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x32xf32>, #smem.in_flight>
func.func @into_flight(%c: !c) {
  // expected-error@+1 {{'smem.columns' op results in !smem.fragment<tensor<64x32xf32>, #smem.in_flight>; expected !smem.fragment<tensor<64x32xf32>, #smem.accumulator>}}
  %0 = "smem.columns"(%c) {first = 0 : i64} : (!c) -> !d
  return
}

// -----

!a = !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>
func.func @multiplicand(%a: !a) {
  // expected-error@+1 {{'smem.columns' op takes an accumulator, not !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>}}
  %0 = "smem.columns"(%a) {first = 0 : i64} : (!a) -> !a
  return
}

// -----

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
func.func @between(%c: !c) {
  // expected-error@+1 {{'smem.columns' op takes tensor<64x8xf32> from column 4 of tensor<64x32xf32>; expected all 64 rows, from a multiple of 8, within 32 columns}}
  %0 = "smem.columns"(%c) {first = 4 : i64} : (!c) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
func.func @beyond(%c: !c) {
  // expected-error@+1 {{'smem.columns' op takes tensor<64x16xf32> from column 24 of tensor<64x32xf32>; expected all 64 rows, from a multiple of 8, within 32 columns}}
  %0 = "smem.columns"(%c) {first = 24 : i64} : (!c) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
func.func @before(%c: !c) {
  // expected-error@+1 {{'smem.columns' op takes tensor<64x8xf32> from column -8 of tensor<64x32xf32>; expected all 64 rows, from a multiple of 8, within 32 columns}}
  %0 = "smem.columns"(%c) {first = -8 : i64} : (!c) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<128x32xf32>, #smem.accumulator>
func.func @rows(%c: !c) {
  // expected-error@+1 {{'smem.columns' op takes tensor<64x32xf32> from column 0 of tensor<128x32xf32>; expected all 128 rows, from a multiple of 8, within 32 columns}}
  %0 = "smem.columns"(%c) {first = 0 : i64} : (!c) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
func.func @element(%c: !c) {
  // expected-error@+1 {{'smem.columns' op results in !smem.fragment<tensor<64x32xf16>, #smem.accumulator>; expected !smem.fragment<tensor<64x32xf32>, #smem.accumulator>}}
  %0 = "smem.columns"(%c) {first = 0 : i64} : (!c) -> !smem.fragment<tensor<64x32xf16>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
func.func @no_fragment(%c: !c) {
  // expected-error@+1 {{'smem.columns' op has an accumulator of [64, 12]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.columns"(%c) {first = 0 : i64} : (!c) -> !smem.fragment<tensor<64x12xf32>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x64xui4>, #smem.accumulator>
func.func @half_a_register(%x: !c) {
  // expected-error@+1 {{expected all 64 rows, from a multiple of 16, within 64 columns}}
  %0 = "smem.columns"(%x) {first = 8 : i64} : (!c) -> !smem.fragment<tensor<64x16xui4>, #smem.accumulator>
  return
}
