// Modules whose mma result in readable accumulators: smem-insert-sync comes first.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-assign-layouts
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-place-accumulators
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-allocate
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-check-async
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-materialize-descriptors
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-mma
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-copies
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-lower-warp-specialize
// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-to-nvvm

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @mma(%t: !t) -> !c {
  // expected-error@+1 {{'smem.mma' op results in !smem.fragment<tensor<64x64xf32>, #smem.accumulator>, which is readable; run smem-insert-sync, or give it a result #smem.in_flight and wait for that}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !c
  return %d : !c
}

// -----

!t = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!s = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!c = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @scaled(%t: !t, %s: !s) -> !c {
  // expected-error@+1 {{'smem.mma_scaled' op results in !smem.fragment<tensor<128x128xf32>, #smem.accumulator>, which is readable; run smem-insert-sync, or give it a result #smem.in_flight and wait for that}}
  %d = "smem.mma_scaled"(%t, %t, %s, %s) : (!t, !t, !s, !s) -> !c
  return %d : !c
}
