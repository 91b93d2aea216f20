// A tile that no descriptor can reach is refused before layouts are tried.

// RUN: smem-opt %s --verify-diagnostics --smem-assign-layouts=arch=sm_100a

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x1073741824xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<1073741824x4xf8E8M0FNU>, #smem.auto>

func.func @columns(%a: !a, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.alloc' op has 137438953472 bytes; descriptors reach 262144}}
  %b = "smem.alloc"() : () -> !b
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x1073741824xf32>, #smem.in_flight>
  return
}
