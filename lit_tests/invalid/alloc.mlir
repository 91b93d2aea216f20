// The offset of an alloc, which smem-allocate adds, is a multiple of its layout's alignment.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'smem.alloc' op has offset = "start"; expected a multiple of 1024 from 0}}
%0 = "smem.alloc"() {offset = "start"} : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

// -----

// expected-error@+1 {{'smem.alloc' op has offset = 512 : i64; expected a multiple of 1024 from 0}}
%0 = "smem.alloc"() {offset = 512 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

// -----

// expected-error@+1 {{'smem.alloc' op has offset = -1024 : i64; expected a multiple of 1024 from 0}}
%0 = "smem.alloc"() {offset = -1024 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

// -----

// expected-error@+1 {{'smem.alloc' op has offset = 8 : i64; expected a multiple of 16 from 0}}
%0 = "smem.alloc"() {offset = 8 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
