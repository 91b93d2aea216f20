// Tiles that a warpgroup loads into registers or stores from them: fewer bank conflicts are preferred to a wider
// swizzle.

// RUN: smem-opt %s --smem-assign-layouts=explain -o %t 2> %t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

!a = !smem.tile<tensor<64x32xtf32>, #smem.auto>
!m = memref<64x32xf32, strided<[1, 64]>>

// M-major tf32 is loaded element by element, 8 rows of 4 columns: these are in different banks only where a
// line of the atom holds 8 of M.
// CHECK-LABEL: func.func @m_major
func.func @m_major(%m: !m) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x32xtf32>, #smem.layout<"Swizzle<1,4,3> o ((8,8),32):((1,256),8)">>
  // REMARK: layout Swizzle<1,4,3> o ((8,8),32):((1,256),8) was chosen
  // REMARK: possible swizzle 128B, column-major, atoms across: the load at {{[0-9:]+}}: 1 element at a time, bank conflicts: 2 passes where 1 would do; the picked one costs less
  // REMARK: possible swizzle 64B, column-major, atoms across: the load at {{[0-9:]+}}: 1 element at a time, bank conflicts: 2 passes where 1 would do; the picked one costs less
  // REMARK: picked   swizzle 32B, column-major, atoms across: {{.*}}the load at {{[0-9:]+}}: 1 element at a time, no bank conflicts
  %t = "smem.alloc"() : () -> !a
  "smem.copy"(%m, %t) : (!m, !a) -> ()
  %a = "smem.load"(%t) : (!a) -> !smem.fragment<tensor<64x32xtf32>, #smem.a_fragment>
  return
}

// ldmatrix and stmatrix have no bank conflicts with the widest swizzle.
!h = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
// CHECK-LABEL: func.func @matrices
func.func @matrices(%c: !c) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
  // REMARK: picked   swizzle 128B, row-major, atoms across: {{.*}}the store at {{[0-9:]+}}: 8x8 matrices, no bank conflicts
  %t = "smem.alloc"() : () -> !h
  "smem.store"(%c, %t) : (!c, !h) -> ()
  %a = "smem.load"(%t) : (!h) -> !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
  return
}

// The bits of a row must be contiguous.
!i1 = !smem.tile<tensor<128x256xi1>, #smem.auto>
// CHECK-LABEL: func.func @bits
func.func @bits() {
  // REMARK: picked   swizzle 32B, row-major, atoms across: the load at {{[0-9:]+}}: 8x8 matrices, no bank conflicts
  // REMARK: refused  swizzle none, column-major, atoms across: the load at {{[0-9:]+}}: registers hold 32 elements of b1 along k, which must be adjacent in memory; expected contiguous rows at multiples of 32 elements
  %t = "smem.alloc"() : () -> !i1
  %a = "smem.load"(%t) : (!i1) -> !smem.fragment<tensor<128x256xi1>, #smem.a_fragment>
  return
}

// An accumulator in pairs of 32-bit elements: in a 128-byte atom, the pairs of rows 2r and 2r + 1 are in the same banks.
!f = !smem.tile<tensor<64x64xf32>, #smem.auto>
// CHECK-LABEL: func.func @pairs
func.func @pairs(%c: !c) {
  // REMARK: possible swizzle 128B, row-major, atoms across: the store at {{[0-9:]+}}: 2 elements at a time, bank conflicts: 4 passes where 2 would do; the picked one costs less
  // REMARK: picked {{.*}}: the store at {{[0-9:]+}}: {{.*}} at a time, no bank conflicts
  %t = "smem.alloc"() : () -> !f
  "smem.store"(%c, %t) : (!c, !f) -> ()
  return
}

// A given layout is kept, and evaluated.
!given = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
// CHECK-LABEL: func.func @given
func.func @given(%c: !c) {
  // REMARK: layout Swizzle<0,4,3> o (64,(4,16)):(4,(1,256)) was given
  // REMARK-NEXT: the load at {{[0-9:]+}}: 2 elements at a time, bank conflicts: 4 passes where 2 would do
  %t = "smem.alloc"() : () -> !given
  %d = "smem.load"(%t) : (!given) -> !c
  return
}
