// A layout beyond the address range of descriptors is rejected before its elements are listed.

// RUN: smem-opt %s --verify-diagnostics

// expected-error@+1 {{'smem.alloc' op}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<100000x100000xbf16>, #smem.layout<"(100000,100000):(1,1)">>
