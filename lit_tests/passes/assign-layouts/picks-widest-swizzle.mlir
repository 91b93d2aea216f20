// The widest swizzle whose atom divides the contiguous extent.

// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s

// Atoms of 64, 32, 16 and 8 elements of bf16; 12 rows are a multiple of none of them.
// CHECK-LABEL: func.func @widths
func.func @widths() {
  // CHECK-NEXT: !smem.tile<tensor<12x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (12,64):(64,1)">>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<12x64xbf16>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<12x32xbf16>, #smem.layout<"Swizzle<2,4,3> o (12,32):(32,1)">>
  %1 = "smem.alloc"() : () -> !smem.tile<tensor<12x32xbf16>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<12x16xbf16>, #smem.layout<"Swizzle<1,4,3> o (12,16):(16,1)">>
  %2 = "smem.alloc"() : () -> !smem.tile<tensor<12x16xbf16>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<12x8xbf16>, #smem.layout<"Swizzle<0,4,3> o (12,8):(8,1)">>
  %3 = "smem.alloc"() : () -> !smem.tile<tensor<12x8xbf16>, #smem.auto>
  return
}

// The widest swizzle of either direction; between equals, contiguous columns are preferred.
// CHECK-LABEL: func.func @directions
func.func @directions() {
  // CHECK-NEXT: !smem.tile<tensor<64x32xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,32):(1,64)">>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x32xbf16>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
  %1 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// 96 columns are three atoms of 32 side by side, each with its 12 rows padded to 16: 512 elements.
// Stages begin at multiples of the pattern's 512 bytes.
// CHECK-LABEL: func.func @several_atoms
func.func @several_atoms() {
  // CHECK-NEXT: !smem.tile<tensor<4x12x96xbf16>, #smem.layout<"Swizzle<2,4,3> o (4,12,(32,3)):(1536,32,(1,512))">>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<4x12x96xbf16>, #smem.auto>
  return
}

// The atom is counted in bytes: 128 of them are 32 tf32, 128 fp8, 1024 b1.
// CHECK-LABEL: func.func @elements
func.func @elements() {
  // CHECK-NEXT: !smem.tile<tensor<12x32xf32>, #smem.layout<"Swizzle<3,4,3> o (12,32):(32,1)">>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<12x32xf32>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<12x128xf8E4M3FN>, #smem.layout<"Swizzle<3,4,3> o (12,128):(128,1)">>
  %1 = "smem.alloc"() : () -> !smem.tile<tensor<12x128xf8E4M3FN>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<12x1024xi1>, #smem.layout<"Swizzle<3,4,3> o (12,1024):(1024,1)">>
  %2 = "smem.alloc"() : () -> !smem.tile<tensor<12x1024xi1>, #smem.auto>
  return
}
