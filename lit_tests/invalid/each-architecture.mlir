// Mma that one architecture has and another rejects.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --smem-assign-layouts

!a = !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
func.func @n_major_bytes(%n: memref<64x64xf8E4M3FN>, %a: !a) {
  // expected-error@+1 {{has no layout that all its uses accept on sm_90}}
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%n, %b) : (memref<64x64xf8E4M3FN>, !b) -> ()
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x32xtf32>, #smem.swizzle<"128B_ATOM_32B", "column-major">>
func.func @atoms_of_32_bytes(%m: memref<64x32xf32, strided<[1, 64]>>) {
  // expected-error@+1 {{has the layout Swizzle<2,5,2> o ((32,2),32):((1,1024),32), but sm_90 has no swizzle 128B_ATOM_32B; sm_100, sm_103 have}}
  %a = "smem.alloc"() : () -> !a
  "smem.copy"(%m, %a) : (memref<64x32xf32, strided<[1, 64]>>, !a) -> ()
  return
}

// -----

!a = !smem.tile<tensor<64x32xi8>, #smem.auto>
!b = !smem.tile<tensor<32x32xi8>, #smem.swizzle<"32B", "row-major">>
func.func @given_for_another(%a: !a) {
  // expected-error@+1 {{which a use rejects: B of the mma at }}
  %b = "smem.alloc"() : () -> !b
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x32xi32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x64xf6E2M3FN>, #smem.auto>
func.func @narrow(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op multiplies e4m3 by e2m3_p32, which wgmma does not; tcgen05 (sm_100, sm_103) does}}
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!t = !smem.tile<tensor<64x128xf6E2M3FN>, #smem.auto>
func.func @padded(%m: memref<64x96xi8>, %i: index) {
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  %t = "smem.alloc"() : () -> !t
  // expected-error@+1 {{'smem.tma_load' op loads e2m3_p32, which TMA of sm_90 does not pad; sm_100 and sm_103 do}}
  "smem.tma_load"(%m, %t, %pipeline, %i, %i, %i) : (memref<64x96xi8>, !t, !smem.pipeline, index, index, index) -> ()
  return
}
