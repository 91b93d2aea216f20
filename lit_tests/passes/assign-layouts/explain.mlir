// The result of each use for each candidate: why it was refused, picked, or not picked.

// RUN: smem-opt %s --smem-assign-layouts=explain --verify-diagnostics
// RUN: smem-opt %s --smem-assign-layouts=explain -o %t 2>&1 | FileCheck %s

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<32x64xbf16>, #smem.auto>
func.func @chosen(%m: memref<64x32xbf16>, %b: !b) {
  // CHECK: explain.mlir:{{[0-9]+}}:8: remark: layout Swizzle<2,4,3> o (64,32):(32,1) was chosen
  // CHECK-NEXT: refused  swizzle 128B, row-major, atoms across: the tile: its contiguous extent of 32 elements is no multiple of the atom's 64: 4096 bytes would be padding
  // CHECK-NEXT: refused  swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: the data in global memory is row-major, but the tile is column-major
  // CHECK-NEXT: picked   swizzle 64B, row-major, atoms across: {{.*}}A of the mma at {{[0-9:]+}}: K-major, Swizzle<2,4,3> o ((8,m),(T,2k)):((4T,SBO),(1,T))
  // CHECK: possible swizzle 32B, row-major, atoms along: the picked one is preferred
  // expected-remark@+1 {{layout Swizzle<2,4,3> o (64,32):(32,1) was chosen}}
  %t = "smem.alloc"() : () -> !a
  "smem.copy"(%m, %t) : (memref<64x32xbf16>, !a) -> ()
  %d = "smem.mma"(%t, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

func.func @unused() {
  // CHECK: remark: layout Swizzle<3,4,3> o (64,64):(64,1) was chosen
  // CHECK-NEXT: picked   swizzle 128B, row-major, atoms across: nothing uses the tile
  // CHECK-NEXT: possible swizzle 128B, column-major, atoms across: the picked one is preferred
  // expected-remark@+1 {{nothing uses the tile}}
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// The 8 threads of a quarter warp write the 8 units of 16 bytes of a row. Without a swizzle these are 512 elements,
// 1024 bytes, apart: in the same banks.
!given = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
func.func @given(%m: memref<64x64xbf16>) {
  // CHECK: remark: layout Swizzle<0,4,3> o (64,(8,8)):(8,(1,512)) was given
  // CHECK-NEXT: the copy at {{[0-9:]+}}: no bank conflicts
  // expected-remark@+1 {{layout Swizzle<0,4,3> o (64,(8,8)):(8,(1,512)) was given}}
  %t = "smem.alloc"() : () -> !given
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !given) -> ()
  return
}

!swizzled = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @without_conflicts(%m: memref<64x64xbf16>) {
  // CHECK: remark: layout Swizzle<3,4,3> o (64,64):(64,1) was given
  // CHECK-NEXT: the copy at {{[0-9:]+}}: no bank conflicts
  // expected-remark@+1 {{no bank conflicts}}
  %t = "smem.alloc"() : () -> !swizzled
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !swizzled) -> ()
  return
}
