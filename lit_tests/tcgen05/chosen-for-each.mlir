// One program, two choices: 8-bit data that is N-major in global memory is transposed for wgmma, but not for
// tcgen05, which reads it N-major.

// RUN: smem-opt %s --smem-assign-layouts=explain=true -o %t 2>&1 | FileCheck %s --check-prefix=HOPPER
// RUN: smem-opt %s --smem-assign-layouts='explain=true arch=sm_100a' -o %t 2>&1 | FileCheck %s --check-prefix=BLACKWELL

!a = !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>

func.func @n_major(%m: memref<64x64xf8E4M3FN>, %n: memref<64x128xf8E4M3FN>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  // HOPPER: remark: layout Swizzle<2,4,3> o (64,128):(1,64) was chosen for sm_90
  // HOPPER: refused  swizzle 128B, row-major, atoms across: B of the mma at {{[0-9:]+}}: the tile is N-major, but wgmma reads e4m3 K-major only (MN-major is for 16-bit types); a copy can make it K-major (smem.copy with the unit attribute relayout), and tcgen05 (sm_100) can read it so
  // HOPPER: picked   swizzle 64B, column-major, atoms across: B of the mma at {{[0-9:]+}}: K-major, Swizzle<2,4,3> o ((8,m),(T,2k)):((4T,SBO),(1,T)); the copy at {{[0-9:]+}}: transposed in registers, no bank conflicts
  // BLACKWELL: remark: layout Swizzle<3,4,3> o (64,128):(128,1) was chosen for sm_100
  // BLACKWELL-NEXT: picked   swizzle 128B, row-major, atoms across: B of the mma at {{[0-9:]+}}: MN-major, Swizzle<3,4,3> o ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO)); the copy at {{[0-9:]+}}: no bank conflicts
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%m, %a) : (memref<64x64xf8E4M3FN>, !a) -> ()
  "smem.copy"(%n, %b) {relayout} : (memref<64x128xf8E4M3FN>, !b) -> ()
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
  return
}

!tf32 = !smem.tile<tensor<128x32xtf32>, #smem.auto>
!k_major = !smem.tile<tensor<32x64xtf32>, #smem.auto>

func.func @m_major(%m: memref<128x32xf32, strided<[1, 128]>>, %k: !k_major) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // HOPPER: was chosen for sm_90
  // HOPPER: picked   swizzle 128B, row-major, {{.*}} K-major{{.*}} transposed in registers
  // BLACKWELL: remark: layout Swizzle<2,5,2> o (({{.*}} was chosen for sm_100
  // BLACKWELL: refused  swizzle 128B, column-major, atoms across: A of the mma at {{[0-9:]+}}: the tile is M-major with swizzle 128B, but tcgen05 reads tf32 so with 128B_ATOM_32B
  // BLACKWELL: picked   swizzle 128B_ATOM_32B, column-major, {{.*}}: A of the mma at {{[0-9:]+}}: MN-major, Swizzle<2,5,2> o ((T,8,m),(4,k)):((1,T,LBO),(8T,SBO))
  %a = "smem.alloc"() : () -> !tf32
  "smem.copy"(%m, %a) {relayout} : (memref<128x32xf32, strided<[1, 128]>>, !tf32) -> ()
  %d = "smem.mma"(%a, %k) : (!tf32, !k_major) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}
