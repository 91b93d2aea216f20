// Errors of IRDL constraints: the verifiers in Python run after them.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected base type 'smem.tile' but got 'builtin.integer'}}
%0 = "smem.alloc"() : () -> i32

// -----

%c = arith.constant 0 : i64
// expected-error@+1 {{expected base type 'builtin.memref' but got 'builtin.integer'}}
%0 = "smem.view"(%c) : (i64) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

// -----

%c = arith.constant 0 : i64
// expected-error@+1 {{expected base type 'smem.tile' but got 'builtin.integer'}}
%0 = "smem.stage"(%c, %c) : (i64, i64) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>

// -----

%t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
// expected-error@+1 {{'smem.subtile' op attribute "static_offsets" is expected but not provided}}
%0 = "smem.subtile"(%t) : (!smem.tile<tensor<64x64xbf16>, #smem.auto>) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>

// -----

// expected-error@+1 {{op expects exactly 2 operands, but got 0}}
"smem.copy"() : () -> ()

// -----

// expected-error@+1 {{op expects exactly 2 operands, but got 0}}
"smem.copy_async"() : () -> ()

// -----

// expected-error@+1 {{'smem.copy_wait' op attribute "pending" is expected but not provided}}
"smem.copy_wait"() : () -> ()

// -----

// expected-error@+1 {{expected base attribute 'builtin.integer' but got 'builtin.string'}}
"smem.copy_wait"() {pending = "all"} : () -> ()

// -----

%c = arith.constant 0 : i64
// expected-error@+1 {{op expects exactly 0 operands, but got 1}}
"smem.fence"(%c) : (i64) -> ()

// -----

// expected-error@+1 {{op expects exactly 1 operands, but got 0}}
%0 = "smem.fill"() : () -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// -----

// expected-error@+1 {{op expects at least 2 operands, but got 0}}
%0 = "smem.mma"() : () -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// -----

%t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
// expected-error@+1 {{expected base type 'smem.fragment' but got 'smem.tile'}}
%0 = "smem.wait"(%t) {pending = 0 : i32} : (!smem.tile<tensor<64x64xbf16>, #smem.auto>) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// -----

%t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
// expected-error@+1 {{expected base type 'smem.fragment' but got 'smem.tile'}}
"smem.store"(%t, %t) : (!smem.tile<tensor<64x64xbf16>, #smem.auto>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()

// -----

%c = arith.constant 0 : i64
// expected-error@+1 {{'smem.mma_desc' op attribute "a_element" is expected but not provided}}
%0 = "smem.mma_desc"(%c, %c) {b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
