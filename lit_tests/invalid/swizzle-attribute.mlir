// RUN: smem-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'smem.alloc' op unknown swizzle '256B'; expected one of none, 32B, 64B, 128B}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"256B", "row-major">>

// -----

// expected-error@+1 {{'smem.alloc' op unknown order 'k-major'; expected one of column-major, row-major}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "k-major">>
