// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @to_an_accumulator(%x: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op results in !smem.fragment<tensor<64x64xf16>, #smem.accumulator>; expected #smem.a_fragment}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xf16>, #smem.accumulator>
  return
}

// -----

func.func @to_metadata(%x: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op results in !smem.fragment<tensor<64x64xf16>, #smem.metadata>; expected #smem.a_fragment}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xf16>, #smem.metadata>
  return
}

// -----

func.func @in_flight(%x: !smem.fragment<tensor<64x64xf32>, #smem.in_flight>) {
  // expected-error@+1 {{'smem.convert' op reads an accumulator in flight; put an smem.wait before it}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
  return
}

// -----

func.func @from_metadata(%x: !smem.fragment<tensor<64x64xf16>, #smem.metadata>) {
  // expected-error@+1 {{'smem.convert' op takes an accumulator, not !smem.fragment<tensor<64x64xf16>, #smem.metadata>}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf16>, #smem.metadata>) -> !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
  return
}

// -----

func.func @no_accumulator(%x: !smem.fragment<tensor<64x64xf64>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op has an accumulator of f64; expected f32, f16, i32}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf64>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
  return
}

// -----

func.func @floats_to_integers(%x: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op converts f32 to i8; expected f16, bf16, tf32, f8E4M3FN, f8E5M2}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xi8>, #smem.a_fragment>
  return
}

// -----

// An A fragment of f32 is loaded from a tile and truncated to tf32; an accumulator is rounded.

func.func @unrounded(%x: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op converts f32 to f32; expected f16, bf16, tf32, f8E4M3FN, f8E5M2}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xf32>, #smem.a_fragment>
  return
}

// -----

func.func @halves_to_bf16(%x: !smem.fragment<tensor<64x64xf16>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op converts f16 to bf16; expected f16, f8E4M3FN, f8E5M2}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf16>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  return
}

// -----

func.func @integers_to_floats(%x: !smem.fragment<tensor<64x64xi32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op converts i32 to f8E5M2; expected i8, si8, ui8, i1}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xi32>, #smem.accumulator>) -> !smem.fragment<tensor<64x64xf8E5M2>, #smem.a_fragment>
  return
}

// -----

func.func @multiplicands(%x: !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>) {
  // expected-error@+1 {{'smem.convert' op converts an A fragment of bf16 to f16; expected f32 to tf32}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>) -> !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
  return
}

// -----

func.func @shape(%x: !smem.fragment<tensor<64x64xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op converts tensor<64x64xf32> to tensor<64x32xf16>; the shapes differ}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x32xf16>, #smem.a_fragment>
  return
}

// -----

func.func @multiplicand_shape(%x: !smem.fragment<tensor<64x64xf32>, #smem.a_fragment>) {
  // expected-error@+1 {{'smem.convert' op converts tensor<64x64xf32> to tensor<64x32xtf32>; the shapes differ}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x64xf32>, #smem.a_fragment>) -> !smem.fragment<tensor<64x32xtf32>, #smem.a_fragment>
  return
}

// -----

// N of an accumulator is a multiple of 8, K of A of 16.

func.func @k(%x: !smem.fragment<tensor<64x8xf32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op has an A fragment of [64, 8]; expected (M, K) with M a multiple of 64 and K of 16 for f16}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x8xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x8xf16>, #smem.a_fragment>
  return
}

// -----

func.func @bits(%x: !smem.fragment<tensor<64x128xi32>, #smem.accumulator>) {
  // expected-error@+1 {{'smem.convert' op has an A fragment of [64, 128]; expected (M, K) with M a multiple of 64 and K of 256 for b1}}
  %0 = "smem.convert"(%x) : (!smem.fragment<tensor<64x128xi32>, #smem.accumulator>) -> !smem.fragment<tensor<64x128xi1>, #smem.a_fragment>
  return
}

// -----

!c = !smem.fragment<tensor<64x64xui4>, #smem.accumulator>
func.func @nibbles(%x: !c) {
  // expected-error@+1 {{'smem.convert' op converts ui4 to bf16; expected a map to the element type of A before it}}
  %0 = "smem.convert"(%x) : (!c) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  return
}
