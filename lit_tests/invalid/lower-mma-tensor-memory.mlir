// Tensor memory on an architecture without it, and missing tensor memory.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-mma

// expected-error@+1 {{'smem.tensor_memory' op allocates tensor memory, which sm_90 does not have}}
%0 = "smem.tensor_memory"() {columns = 8 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 1 : i32, offset = 0 : i64} : () -> !smem.pipeline
