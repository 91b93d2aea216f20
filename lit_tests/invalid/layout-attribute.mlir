// RUN: smem-opt %s --split-input-file --verify-diagnostics

// Malformed notation.

// expected-error@+1 {{'smem.alloc' op malformed layout '(64,64)': expected ':' and the strides}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64)">>

// -----

// expected-error@+1 {{malformed layout '(64,64):(64,1) o': unexpected 'o'}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(64,1) o">>

// -----

// expected-error@+1 {{malformed layout '(64,64):(64,1),2': ',' after the strides}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(64,1),2">>

// -----

// expected-error@+1 {{malformed layout '4096:1': expected one entry for each dimension}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"4096:1">>

// -----

// expected-error@+1 {{malformed layout '': it ends too early}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"">>

// -----

// expected-error@+1 {{malformed layout '(64,):(64,1)': unexpected ')'}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,):(64,1)">>

// -----

// expected-error@+1 {{malformed layout '(64,64:(64,1)': a parenthesis is not closed}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64:(64,1)">>

// -----

// expected-error@+1 {{malformed layout '((8,8),64):(64,1)': extents and strides differ in structure}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"((8,8),64):(64,1)">>

// -----

// expected-error@+1 {{Swizzle<2,3,3> is no swizzling mode of shared memory; expected Swizzle<0,4,3>, Swizzle<1,4,3>, Swizzle<2,4,3>, Swizzle<3,4,3>, Swizzle<2,5,2>}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<2,3,3> o (64,64):(64,1)">>

// -----

// Layouts of another shape than the tile's.

// expected-error@+1 {{'smem.alloc' op a layout of rank 3 does not fit a tile of rank 2}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(2,64,64):(4096,64,1)">>

// -----

// expected-error@+1 {{'smem.alloc' op dimension 0 has 64 elements, but its modes cover 32}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(32,64):(64,1)">>

// -----

// Padding by less than an atom is legal; here it is more than an atom.

// expected-error@+1 {{'smem.alloc' op dimension 1 has 64 elements, but its modes cover 192}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,(64,3)):(64,(1,4096))">>

// -----

// expected-error@+1 {{'smem.alloc' op dimension 0 has no valid extents and strides: }}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(0,64):(64,1)">>

// -----

// expected-error@+1 {{'smem.alloc' op the layout Swizzle<0,4,3> o (64,64):(32,1) puts the elements [0, 32] and [1, 0] in the same place}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(32,1)">>
