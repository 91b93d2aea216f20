// RUN: smem-opt %s --smem-assign-layouts --split-input-file --verify-diagnostics

// wgmma reads 8-bit elements K-major only: one of the two views of a tile.

!t = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
func.func @bytes_in_both_orders(%a: !t) {
  // expected-error-re@+1 {{refused  swizzle 128B, column-major, atoms across: B of the mma at {{[0-9:]+}}: the tile is N-major, but wgmma reads e4m3 K-major only}}
  %b = "smem.alloc"() : () -> !t
  %t = "smem.transpose"(%b) : (!t) -> !t
  %0 = "smem.mma"(%a, %b) : (!t, !t) -> !d
  %1 = "smem.mma"(%a, %t) : (!t, !t) -> !d
  return
}
