// RUN: smem-opt %s --split-input-file --verify-diagnostics

// An integer without a type is an i64 in MLIR; counts are i32 and bytes are i64.

func.func @wait(%flying: !smem.fragment<tensor<64x8xf32>, #smem.in_flight>) {
  // expected-error@+1 {{'smem.wait' op has pending = 0 : i64; expected an i32, as in pending = 0 : i32}}
  %0 = "smem.wait"(%flying) {pending = 0} : (!smem.fragment<tensor<64x8xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
  return
}

// -----

// expected-error@+1 {{'smem.copy_wait' op has pending = true; expected an i32, as in pending = 1 : i32}}
"smem.copy_wait"() {pending = true} : () -> ()

// -----

// expected-error@+1 {{'smem.tma_wait' op has pending = 0 : index; expected an i32, as in pending = 0 : i32}}
"smem.tma_wait"() {pending = 0 : index} : () -> ()

// -----

// expected-error@+1 {{'smem.create_pipeline' op has stages = 4 : i64; expected an i32, as in stages = 4 : i32}}
%0 = "smem.create_pipeline"() {stages = 4, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline

// -----

// An attribute that is not an integer has another message.

// expected-error@+1 {{'smem.create_pipeline' op has offset = "x"; expected a multiple of 8 from 0}}
%0 = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32, offset = "x"} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.alloc' op has offset = 0 : i32; expected an i64, as in offset = 0 : i64}}
%0 = "smem.alloc"() {offset = 0 : i32} : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has registers = 40 : i64; expected an i32, as in registers = 40 : i32}}
  "smem.partition"() ({
  ^bb0:
  }) {warpgroups = 1 : i32, registers = 40} : () -> ()
}) : () -> ()
