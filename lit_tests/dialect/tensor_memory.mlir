// Tensor memory for the accumulators of a CTA's warpgroups.

// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK: "smem.tensor_memory"() {columns = 256 : i32, depth = 4 : i32, first = 1 : i32, warpgroups = 2 : i32} : () -> !smem.pipeline
%0 = "smem.tensor_memory"() {columns = 256 : i32, depth = 4 : i32, first = 1 : i32, warpgroups = 2 : i32} : () -> !smem.pipeline

// The form after smem-allocate.
// CHECK: "smem.tensor_memory"() {columns = 8 : i32, depth = 4 : i32, first = 0 : i32, offset = 4096 : i64, warpgroups = 1 : i32}
%1 = "smem.tensor_memory"() {columns = 8 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 1 : i32, offset = 4096 : i64} : () -> !smem.pipeline

// For CTA pairs.
// CHECK: "smem.tensor_memory"() {columns = 8 : i32, depth = 1 : i32, first = 0 : i32, pair, warpgroups = 1 : i32}
%2 = "smem.tensor_memory"() {columns = 8 : i32, depth = 1 : i32, first = 0 : i32, warpgroups = 1 : i32, pair} : () -> !smem.pipeline
