// RUN: smem-opt %s --split-input-file --verify-diagnostics

// The first parameter of a tile.

// expected-error@+1 {{'smem.alloc' op expected a ranked tensor of static shape as the first parameter, not i32}}
%0 = "smem.alloc"() : () -> !smem.tile<i32, #smem.auto>

// -----

// expected-error@+1 {{expected a ranked tensor of static shape as the first parameter, not tensor<*xbf16>}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<*xbf16>, #smem.auto>

// -----

// expected-error@+1 {{expected a ranked tensor of static shape as the first parameter, not tensor<?x64xbf16>}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<?x64xbf16>, #smem.auto>

// -----

// expected-error@+1 {{'smem.alloc' op a tile has the shape (rows, columns) or (stages, rows, columns), not [64]}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64xbf16>, #smem.auto>

// -----

// expected-error@+1 {{a tile has the shape (rows, columns) or (stages, rows, columns), not [2, 2, 64, 64]}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<2x2x64x64xbf16>, #smem.auto>

// -----

// expected-error@+1 {{'smem.alloc' op a tile has no elements in [0, 64]}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<0x64xbf16>, #smem.auto>

// -----

// The second parameter: errors of IRDL constraints.

// expected-error@+1 {{'#smem.accumulator' does not satisfy the constraint}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.accumulator>

// -----

// expected-error@+1 {{expected base attribute 'builtin.string' but got 'builtin.integer'}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<128, "row-major">>

// -----

// expected-error@+1 {{'#smem.auto' does not satisfy the constraint}}
func.func private @f() -> !smem.fragment<tensor<64x64xf32>, #smem.auto>
