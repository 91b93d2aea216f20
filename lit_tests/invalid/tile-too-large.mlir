// A tile larger than the memory is rejected at its alloc.

// RUN: smem-opt %s --verify-diagnostics --smem-assign-layouts=arch=sm_100a

!a = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x1073741824xf8E4M3FN>, #smem.auto>
!sa = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<1073741824x4xf8E8M0FNU>, #smem.auto>

func.func @columns(%a: !a, %sa: !sa, %sb: !sb) {
  // expected-error@+1 {{'smem.alloc' op has the shape [128, 1073741824]; the shared memory and the registers of a CTA hold at most 2097152 elements}}
  %b = "smem.alloc"() : () -> !b
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !smem.fragment<tensor<128x1073741824xf32>, #smem.in_flight>
  return
}
