// Layouts that are almost canonical layouts of wgmma; each message states what does not fit.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

!a = !smem.tile<tensor<64x16xbf16>, #smem.layout<"(64,16):(32,2)">>
!b = !smem.tile<tensor<16x64xbf16>, #smem.auto>
func.func @no_unit_stride(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op cannot read A of layout Swizzle<0,4,3> o (64,16):(32,2): the MMA tile of 64x16 at (0, 0): no dimension is contiguous: the innermost strides are 32 along m/n and 2 along k, and one of them must be 1}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// A row-major matrix: its rows are 64 elements apart; rows of core matrices are 8 apart.

!a = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(64,1)">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @plain_rows(%a: !a, %b: !b) {
  // expected-error@+1 {{along m/n, the stride of factor 8 is 64 elements where 1T = 8 is needed; K-major, swizzle none, is Swizzle<0,4,3> o ((8,m),(T,2k)):((1T,SBO),(1,LBO))}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Rows of 136 bytes: padded against bank conflicts, as for ldmatrix.

!a = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(68,1)">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @padded_rows(%a: !a, %b: !b) {
  // expected-error@+1 {{along m/n, the stride of factor 8 is 68 elements where 8T = 64 is needed; K-major, swizzle 128B, is Swizzle<3,4,3> o ((8,m),(T,2k)):((8T,SBO),(1,T))}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Groups of 8 rows at two different distances: SBO is one number.

!a = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o ((8,2,4),64):((64,512,2048),1)">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @two_strides(%a: !a, %b: !b) {
  // expected-error@+1 {{along m/n, the repeats of the pattern have no single stride: 512 elements, then 2048 after 2 of them}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Groups of 4 rows: the pattern has 8.

!a = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o ((4,16),64):((64,512),1)">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @half_patterns(%a: !a, %b: !b) {
  // expected-error@+1 {{along m/n, 4 elements have the stride 64, but the pattern needs 8 in a row; K-major, swizzle 128B}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// SBO of 520 elements, 1040 bytes: fits. Of 516, 1032 bytes: not a multiple of 16.

!a = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o ((8,8),64):((64,516),1)">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @sbo_no_multiple(%a: !a, %b: !b) {
  // expected-error@+1 {{SBO would be 1032 bytes; a descriptor holds multiples of 16 up to 262128}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

!a = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,(64,2)):(64,(1,131072))">>
func.func @lbo_too_far(%a: !a, %b: !b) {
  // expected-error@+1 {{'smem.mma' op the layout Swizzle<3,4,3> o (64,(64,2)):(64,(1,131072)) spans 270336 bytes; descriptors reach 262144}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
  return
}

// -----

// Atoms of 8 columns side by side: an instruction's 16 columns of k are cut.

!a = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,(24,3)):(64,(1,4096))">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @k_step_cuts(%a: !a, %b: !b) {
  // expected-error@+1 {{the MMA tile of 64x16 at (0, 16): it cuts an atom: along k, it begins 16 elements into one of 24 and is 16 long, but the next is 4096 elements apart and no descriptor reads across; begin at a multiple of 24, or stay inside one}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// The second instruction along k would begin at byte 8 of a 16-byte unit.

!a = !smem.tile<tensor<64x32xbf16>, #smem.layout<"((8,8),(8,2,2)):((8,256),(1,64,2052))">>
!b = !smem.tile<tensor<32x64xbf16>, #smem.auto>
func.func @k_step_misaligned(%a: !a, %b: !b) {
  // expected-error@+1 {{the MMA tile of 64x16 at (0, 16) starts 2052 elements into the tile, which is not a multiple of 16 bytes}}
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
