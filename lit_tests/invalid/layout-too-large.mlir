// XFAIL: *
// Whether two elements of a layout lie in one place is found by listing them all: of a layout larger than
// any shared memory, that takes all the memory of the host.

// RUN: smem-opt %s --verify-diagnostics

// expected-error@+1 {{'smem.alloc' op}}
%0 = "smem.alloc"() : () -> !smem.tile<tensor<100000x100000xbf16>, #smem.layout<"(100000,100000):(1,1)">>
