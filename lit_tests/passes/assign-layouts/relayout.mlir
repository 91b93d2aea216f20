// A copy with `relayout` transposes only if every layout needs it.

// RUN: smem-opt %s --smem-assign-layouts=explain=true -o %t 2> %t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

!a8 = !smem.tile<tensor<64x128xf8E4M3FN>, #smem.auto>
!b8 = !smem.tile<tensor<128x64xf8E4M3FN>, #smem.auto>
!a16 = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b16 = !smem.tile<tensor<64x32xbf16>, #smem.auto>

// CHECK-LABEL: func.func @bytes
func.func @bytes(%m: memref<128x64xf8E4M3FN>, %n: memref<128x64xf8E4M3FN>) {
  // M is contiguous in global memory, K in the tile.
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x128xf8E4M3FN>, #smem.layout<"Swizzle<3,4,3> o (64,128):(128,1)">>
  // REMARK: picked   swizzle 128B, row-major, atoms across: A of the mma at {{[0-9:]+}}: K-major, {{.*}}; the copy at {{[0-9:]+}}: transposed in registers, no bank conflicts
  %a = "smem.alloc"() : () -> !a8
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<128x64xf8E4M3FN>, #smem.layout<"Swizzle<3,4,3> o (128,64):(1,128)">>
  // REMARK: picked   swizzle 128B, column-major, atoms across: B of the mma at {{[0-9:]+}}: K-major, {{.*}}; the copy at {{[0-9:]+}}: transposed in registers, no bank conflicts
  %b = "smem.alloc"() : () -> !b8
  "smem.copy"(%m, %a) {permutation = array<i64: 1, 0>, relayout} : (memref<128x64xf8E4M3FN>, !a8) -> ()
  "smem.copy"(%n, %b) {relayout} : (memref<128x64xf8E4M3FN>, !b8) -> ()
  %d = "smem.mma"(%a, %b) : (!a8, !b8) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// 16-bit data of an mma is not transposed, even if the transposed tile could have a wider swizzle: N is 64 bytes here,
// K is 128.
// CHECK-LABEL: func.func @halves
func.func @halves(%m: memref<64x64xbf16>, %n: memref<64x32xbf16>) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(1,64)">>
  // REMARK: possible swizzle 128B, row-major, atoms across: the copy at {{[0-9:]+}}: transposed in registers, no bank conflicts; the picked one costs less
  // REMARK-NEXT: picked   swizzle 128B, column-major, atoms across
  %a = "smem.alloc"() : () -> !a16
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x32xbf16>, #smem.layout<"Swizzle<2,4,3> o (64,32):(32,1)">>
  // REMARK: possible swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: transposed in registers, no bank conflicts; the picked one costs less
  // REMARK-NEXT: picked   swizzle 64B, row-major, atoms across
  %b = "smem.alloc"() : () -> !b16
  "smem.copy"(%m, %a) {permutation = array<i64: 1, 0>, relayout} : (memref<64x64xbf16>, !a16) -> ()
  "smem.copy"(%n, %b) {relayout} : (memref<64x32xbf16>, !b16) -> ()
  %d = "smem.mma"(%a, %b) : (!a16, !b16) -> !smem.fragment<tensor<64x32xf32>, #smem.in_flight>
  return
}
