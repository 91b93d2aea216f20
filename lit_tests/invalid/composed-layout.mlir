// RUN: smem-opt %s --split-input-file --verify-diagnostics

// Malformed origins.

// expected-error@+1 {{'smem.alloc' op malformed origin '0,16': expected a start for each dimension, for example (0,16), or (0,16n) for a multiple of 16 that is known at run time}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "0,16">>

// -----

// expected-error@+1 {{'smem.alloc' op a start cannot be a multiple of 0; expected 1 or more}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,0n)">>

// -----

// expected-error@+1 {{'smem.alloc' op the origin (16) does not fit a subtile of rank 2; expected a start for each dimension, not all of them 0}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(16)">>

// -----

// expected-error@+1 {{'smem.alloc' op the origin (0, 0) does not fit a subtile of rank 2}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,0)">>

// -----

// expected-error@+1 {{'smem.alloc' op dimension 1 has 64 elements from 80, but its modes cover 128}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,80)">>

// -----

// A subtile that cuts no atom has no composed layout, and an origin is in the first atom.

// expected-error@+1 {{'smem.alloc' op the subtile layout Swizzle<3,4,3> o (64,64):(64,1) from (0,16) is written #smem.layout<"Swizzle<3,4,3> o (64,48):(64,1)">}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x48xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,64):(64,1)", "(0,16)">>

// -----

// expected-error@+1 {{from (0,80) is written #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,3)):(64,(1,4096))", "(0,80)">>

// -----

// Whole tiles.

// expected-error@+1 {{'smem.alloc' op has the layout Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,16), which only a subtile can have}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16)">>

// -----

func.func @view(%w: memref<8192xbf16, #gpu.address_space<workgroup>>) {
  // expected-error@+1 {{'smem.view' op has the layout Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096)) from (0,16n), which only a subtile can have}}
  %0 = "smem.view"(%w) : (memref<8192xbf16, #gpu.address_space<workgroup>>) -> !smem.tile<tensor<64x64xbf16>, #smem.composed_layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,4096))", "(0,16n)">>
  return
}
