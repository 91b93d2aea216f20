// A barrier of one warp is not proven to order what the CTA accesses.

// REQUIRES: gpu-barrier-scopes
// RUN: smem-opt %s --smem-check-async --allow-unregistered-dialect --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @other_order(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "test.meet"() : () -> ()
  // expected-remark-re@+1 {{cannot prove that the smem.copy at {{[0-9:]+}} is over when this reads the smem.alloc at {{[0-9:]+}}: 'test.meet' at {{[0-9:]+}} may order them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  gpu.barrier scope <subgroup>
  // expected-remark-re@+2 {{cannot prove that the smem.mma at {{[0-9:]+}} is over when this overwrites the smem.alloc at {{[0-9:]+}}: 'gpu.barrier' at {{[0-9:]+}} may order them}}
  // expected-remark-re@+1 {{cannot prove that the smem.copy at {{[0-9:]+}} is over when this overwrites the smem.alloc at {{[0-9:]+}}: 'test.meet' at {{[0-9:]+}} may order them}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}
