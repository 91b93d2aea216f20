// Tensor memory of another size than accumulators in flight need.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-mma=arch=sm_100a

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @few_columns(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'smem.tensor_memory' op has 64 columns for each warpgroup, but its function's accumulators and factors take 72}}
  %m = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @few_columns_twice(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'smem.tensor_memory' op has 72 columns for each warpgroup, but its function's accumulators and factors take 136}}
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !d
  %1 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @no_pair_memory(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  // expected-error-re@+1 {{'smem.mma_desc_scaled' op has pair, but the smem.tensor_memory at {{[0-9:]+}} has no pair}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>, pair} : (i64, i64, i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @pair_memory(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32, pair} : () -> !smem.pipeline
  // expected-error-re@+1 {{'smem.mma_desc_scaled' op has no pair, but the smem.tensor_memory at {{[0-9:]+}} has pair}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @wgmma_pair_no_memory(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  // expected-error-re@+1 {{'smem.mma_desc' op has pair, but the smem.tensor_memory at {{[0-9:]+}} has no pair}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, pair} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @pair_no_cluster(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32, pair} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.mma_desc' op has pair, but the kernel has clusters of 1x1x1 CTAs; expected an even number along x: known_cluster_size = array<i32: 2, 1, 1>}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, pair} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @pair_cluster3(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 3, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32, pair} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.mma_desc' op has pair, but the kernel has clusters of 3x1x1 CTAs; expected an even number along x: known_cluster_size = array<i32: 2, 1, 1>}}
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, pair} : (i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @two_memories(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %m0 = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  // expected-error-re@+1 {{'smem.tensor_memory' op allocates tensor memory again; the function has allocated it at {{[0-9:]+}}}}
  %m1 = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @warpgroups(%a: i64, %b: i64) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  // expected-error-re@+1 {{'smem.mma_desc_scaled' op is executed by warpgroups 0 to 1 of the CTA, but the smem.tensor_memory at {{[0-9:]+}} is for 0 to 0}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @first(%a: i64, %b: i64) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 1 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  // expected-error-re@+1 {{'smem.mma_desc_scaled' op is executed by warpgroups 0 to 1 of the CTA, but the smem.tensor_memory at {{[0-9:]+}} is for 1 to 1}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !d
  return
}

// -----

!d = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
func.func @long(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %m = "smem.tensor_memory"() {columns = 88 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  // expected-error@+1 {{'smem.mma_desc_scaled' op reads 48 bytes along K, which sm_100 does not; sm_103 does}}
  %0 = "smem.mma_desc_scaled"(%a, %b, %a, %b) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3>, a_second_chunks = array<i64: -1, -1>, b_steps = array<i64: 0, 3>, b_second_chunks = array<i64: -1, 64>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64>, b_scale_steps = array<i64: 0, 32, 64>} : (i64, i64, i64, i64) -> !d
  return
}

// -----

func.func @in_a_branch(%c: i1) attributes {known_block_size = array<i32: 128, 1, 1>} {
  scf.if %c {
    // expected-error@+1 {{'smem.tensor_memory' op is not at the top of its function, where all threads execute it once}}
    %m = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  }
  return
}
