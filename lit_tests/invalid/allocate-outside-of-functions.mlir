// An op with regions at the top level of a module is not a function.

// RUN: smem-opt %s --smem-allocate --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
%c = arith.constant true
%m = memref.alloc() : memref<64x64xbf16>
scf.if %c {
} else {
  // expected-error@+1 {{'smem.alloc' op is in no function; shared memory belongs to a kernel}}
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !t) -> ()
}
