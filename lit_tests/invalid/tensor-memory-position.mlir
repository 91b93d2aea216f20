// Tensor memory is allocated in a kernel, before what needs it.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-mma=arch=sm_100

// expected-error@+1 {{'smem.tensor_memory' op is in no function; shared memory belongs to a kernel}}
%0 = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline

// -----

func.func @behind(%a: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = "smem.mma_desc"(%a, %a) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  // expected-error@+1 {{'smem.tensor_memory' op comes after the 'smem.mma_desc' at 11:8, which needs it}}
  %1 = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  return
}

// -----

func.func @behind_a_loop(%a: i64, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = "smem.mma_desc"(%a, %a) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  }
  // expected-error@+1 {{'smem.tensor_memory' op comes after the 'smem.mma_desc' at 23:10, which needs it}}
  %1 = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  return
}
