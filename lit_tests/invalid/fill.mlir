// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @element(%v: f16) {
  // expected-error@+1 {{'smem.fill' op fills f32 elements with f16}}
  %0 = "smem.fill"(%v) : (f16) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}

// -----

// Shapes and element types of accumulators.

func.func @accumulator_element(%v: f64) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of f64; expected f32, f16, i32, bf16, i16, i8, ui8, f8E4M3FN, f8E5M2, i4, ui4}}
  %0 = "smem.fill"(%v) : (f64) -> !smem.fragment<tensor<64x64xf64>, #smem.accumulator>
  return
}

// -----

func.func @accumulator_rows(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of [32, 64]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<32x64xf32>, #smem.accumulator>
  return
}

// -----

func.func @accumulator_columns(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of [64, 20]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64x20xf32>, #smem.accumulator>
  return
}

// -----

func.func @accumulator_rank(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of [64]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64xf32>, #smem.accumulator>
  return
}

// -----

func.func @dynamic(%v: f32) {
  // expected-error@+1 {{'smem.fill' op expected a ranked tensor of static shape as the first parameter, not tensor<64x?xf32>}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64x?xf32>, #smem.accumulator>
  return
}

// -----

// 0 rows or columns.

func.func @no_columns(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of [64, 0]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64x0xf32>, #smem.accumulator>
  return
}

// -----

func.func @no_rows(%v: f32) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of [0, 64]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<0x64xf32>, #smem.accumulator>
  return
}

// -----

func.func @multiplicand(%v: f16) {
  // expected-error@+1 {{'smem.fill' op fills an accumulator or a slice, not !smem.fragment<tensor<64x16xf16>, #smem.a_fragment>}}
  %0 = "smem.fill"(%v) : (f16) -> !smem.fragment<tensor<64x16xf16>, #smem.a_fragment>
  return
}

// -----

func.func @metadata(%v: f16) {
  // expected-error@+1 {{'smem.fill' op fills an accumulator or a slice, not !smem.fragment<tensor<64x64xf16>, #smem.metadata>}}
  %0 = "smem.fill"(%v) : (f16) -> !smem.fragment<tensor<64x64xf16>, #smem.metadata>
  return
}

// -----

// Parameters of a fragment type.

func.func @no_fragment(%v: f16) {
  // expected-error@+1 {{'smem.fill' op expected a ranked tensor of static shape as the first parameter, not i32}}
  %0 = "smem.fill"(%v) : (f16) -> !smem.fragment<i32, #smem.accumulator>
  return
}

// -----

func.func @integers(%v: i32) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of [64, 20]; expected (M, N) with M a multiple of 64 and N of 8}}
  %0 = "smem.fill"(%v) : (i32) -> !smem.fragment<tensor<64x20xi32>, #smem.accumulator>
  return
}

// -----

func.func @in_flight_without_instructions(%v: bf16) {
  // expected-error@+1 {{'smem.fill' op has bf16 in flight, in which no mma accumulates; expected f32, f16, i32}}
  %0 = "smem.fill"(%v) : (bf16) -> !smem.fragment<tensor<64x64xbf16>, #smem.in_flight>
  return
}

// -----

func.func @nibbles_of_8_columns(%v: i8) {
  // expected-error@+1 {{'smem.fill' op has an accumulator of [64, 24]; expected (M, N) with M a multiple of 64 and N of 16}}
  %0 = "smem.fill"(%v) : (i8) -> !smem.fragment<tensor<64x24xi4>, #smem.accumulator>
  return
}
