// RUN: smem-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'smem.tensor_memory' op has 0 columns for each of 1 warpgroups; expected 1 or more, and 512 in all}}
%0 = "smem.tensor_memory"() {columns = 0 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 1 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.tensor_memory' op has 256 columns for each of 3 warpgroups; expected 1 or more, and 512 in all}}
%0 = "smem.tensor_memory"() {columns = 256 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 3 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.tensor_memory' op has first = -1; expected 0 or more}}
%0 = "smem.tensor_memory"() {columns = 256 : i32, depth = 4 : i32, first = -1 : i32, warpgroups = 1 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.tensor_memory' op has offset = 4 : i64; expected a multiple of 8 from 0}}
%0 = "smem.tensor_memory"() {columns = 8 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 1 : i32, offset = 4 : i64} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.tensor_memory' op has depth = 3; expected a power of two from 1 to 16}}
%0 = "smem.tensor_memory"() {columns = 8 : i32, depth = 3 : i32, first = 0 : i32, warpgroups = 1 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.tensor_memory' op has depth = 32; expected a power of two from 1 to 16}}
%0 = "smem.tensor_memory"() {columns = 8 : i32, depth = 32 : i32, first = 0 : i32, warpgroups = 1 : i32} : () -> !smem.pipeline

// -----

// expected-error@+1 {{'smem.tensor_memory' op has pair = true; expected a unit attribute, without a value}}
%0 = "smem.tensor_memory"() {columns = 8 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 1 : i32, pair = true} : () -> !smem.pipeline
