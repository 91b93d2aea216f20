// RUN: smem-opt %s --split-input-file --verify-diagnostics

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @in_flight(%x0: !smem.fragment<tensor<64x16xf32>, #smem.in_flight>) {
  // expected-error@+1 {{'smem.map' op reads an accumulator in flight; put an smem.wait before it}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    gpu.yield %v : f32
  }) : (!smem.fragment<tensor<64x16xf32>, #smem.in_flight>) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @result_in_flight(%x0: !c) {
  // expected-error@+1 {{'smem.map' op results in !smem.fragment<tensor<64x16xf32>, #smem.in_flight>; expected #smem.accumulator}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    gpu.yield %v : f32
  }) : (!c) -> !smem.fragment<tensor<64x16xf32>, #smem.in_flight>
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x16xf16>, #smem.a_fragment>
func.func @multiplicand(%x0: !a) {
  // expected-error@+1 {{'smem.map' op takes an accumulator, not !smem.fragment<tensor<64x16xf16>, #smem.a_fragment>}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f16):
    %w = arith.extf %v : f16 to f32
    gpu.yield %w : f32
  }) : (!a) -> !c
  return
}

// -----

// smem.convert does that.

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>
func.func @to_a_multiplicand(%x0: !c) {
  // expected-error@+1 {{'smem.map' op results in !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>; expected #smem.accumulator}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    %w = arith.truncf %v : f32 to bf16
    gpu.yield %w : bf16
  }) : (!c) -> !a
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @shape(%x0: !c) {
  // expected-error@+1 {{'smem.map' op maps tensor<64x16xf32> to tensor<64x32xf32>; the shapes differ}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    gpu.yield %v : f32
  }) : (!c) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @no_accumulator(%x0: !c) {
  // expected-error@+1 {{'smem.map' op has an accumulator of f64; expected f32, f16, i32, bf16, i16, i8, ui8, f8E4M3FN, f8E5M2, i4, ui4}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    %w = arith.extf %v : f32 to f64
    gpu.yield %w : f64
  }) : (!c) -> !smem.fragment<tensor<64x16xf64>, #smem.accumulator>
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @nothing() {
  // expected-error@+1 {{'smem.map' op maps no fragment; expected one or more}}
  %0 = "smem.map"() ({
    %v = arith.constant 1.0 : f32
    gpu.yield %v : f32
  }) : () -> !c
  return
}

// -----

// IRDL requires the same type of all variadic operands.

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!h = !smem.fragment<tensor<64x16xf16>, #smem.accumulator>
func.func @types_of_inputs(%x0: !c, %x1: !h) {
  // expected-error@+1 {{expected '!smem.fragment<tensor<64x16xf32>, #smem.accumulator>' but got '!smem.fragment<tensor<64x16xf16>, #smem.accumulator>'}}
  %0 = "smem.map"(%x0, %x1) ({
  ^bb0(%v: f32, %w: f16):
    gpu.yield %v : f32
  }) : (!c, !h) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @no_block(%x0: !c) {
  // expected-error@+1 {{'smem.map' op has a region of 0 blocks; expected one}}
  %0 = "smem.map"(%x0) ({

  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @two_blocks(%x0: !c) {
  // expected-error@+1 {{'smem.map' op has a region of 2 blocks; expected one}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    cf.br ^bb1
  ^bb1:
    gpu.yield %v : f32
  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @no_region(%x0: !c) {
  // expected-error@+1 {{'smem.map' op unexpected number of regions: expected 1 but got 0}}
  %0 = "smem.map"(%x0) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @row_without_column(%x0: !c) {
  // expected-error@+1 {{'smem.map' op has a region with arguments (f32, index); expected (f32), which may be followed by the row and the column as index, index}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32, %row: index):
    gpu.yield %v : f32
  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @argument_type(%x0: !c) {
  // expected-error@+1 {{'smem.map' op has a region with arguments (f16); expected (f32), which may be followed by the row and the column as index, index}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%h: f16):
    %v = arith.extf %h : f16 to f32
    gpu.yield %v : f32
  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @too_few_arguments(%x0: !c, %x1: !c) {
  // expected-error@+1 {{'smem.map' op has a region with arguments (f32); expected (f32, f32), which may be followed by the row and the column as index, index}}
  %0 = "smem.map"(%x0, %x1) ({
  ^bb0(%v: f32):
    gpu.yield %v : f32
  }) : (!c, !c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @yielded_type(%x0: !c) {
  // expected-error@+1 {{'smem.map' op yields (f16) for elements of f32}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    %h = arith.truncf %v : f32 to f16
    gpu.yield %h : f16
  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @other_end(%x0: !c) {
  // expected-error@+1 {{'smem.map' op has a region that does not end with gpu.yield}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    llvm.unreachable
  }) : (!c) -> !c
  return
}

// -----

// Errors of MLIR itself.

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @no_end(%x0: !c) {
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    // expected-error@+1 {{block with no terminator, has %1 = "arith.truncf"(%arg1) : (f32) -> f16}}
    %h = arith.truncf %v : f32 to f16
  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @two_values(%x0: !c) {
  // expected-error@+1 {{'smem.map' op yields (f32, f32) for elements of f32}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    gpu.yield %v, %v : f32, f32
  }) : (!c) -> !c
  return
}

// -----

// Each thread executes the region for each element, so ops of a warpgroup are rejected in it.

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @nested(%x0: !c) {
  // expected-error-re@+1 {{'smem.map' op holds 'smem.map' at {{[0-9:]+}}, which a warpgroup runs together, but each thread runs the region for each of its elements; put it before or after}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    %1 = "smem.map"(%x0) ({
    ^bb0(%w: f32):
      gpu.yield %w : f32
    }) : (!c) -> !c
    gpu.yield %v : f32
  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
func.func @nested_deeper(%x0: !c, %if: i1, %m: memref<64x16xf32>) {
  // expected-error-re@+1 {{'smem.map' op holds 'smem.store' at {{[0-9:]+}}, which a warpgroup runs together, but each thread runs the region for each of its elements; put it before or after}}
  %0 = "smem.map"(%x0) ({
  ^bb0(%v: f32):
    %w = scf.if %if -> f32 {
      "smem.store"(%x0, %m) : (!c, memref<64x16xf32>) -> ()
      scf.yield %v : f32
    } else {
      scf.yield %v : f32
    }
    gpu.yield %v : f32
  }) : (!c) -> !c
  return
}

// -----

// Floats of 8 bits are only converted.

!c = !smem.fragment<tensor<64x16xf8E4M3FN>, #smem.accumulator>
func.func @arithmetic_of_8_bits(%x: !c) {
  // expected-error@+1 {{holds 'arith.addf' at }}
  %0 = "smem.map"(%x) ({
  ^bb0(%v: f8E4M3FN):
    %w = arith.addf %v, %v : f8E4M3FN
    gpu.yield %w : f8E4M3FN
  }) : (!c) -> !c
  return
}

// -----

// Integers are signless in the region.

!c = !smem.fragment<tensor<64x16xui8>, #smem.accumulator>
func.func @unsigned_arguments(%x: !c) {
  // expected-error@+1 {{'smem.map' op has a region with arguments (ui8); expected (i8)}}
  %0 = "smem.map"(%x) ({
  ^bb0(%v: ui8):
    gpu.yield %v : ui8
  }) : (!c) -> !c
  return
}
