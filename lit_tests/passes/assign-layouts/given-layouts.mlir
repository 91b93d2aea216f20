// A forced swizzle is written out, a layout is kept; neither is chosen anew.

// RUN: smem-opt %s --smem-assign-layouts | FileCheck %s

!a = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"32B", "row-major">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<2,4,3> o ((32,2),64):((1,2048),32)">>

func.func @given() {
  // CHECK: %[[A:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<1,4,3> o (64,(16,4)):(16,(1,1024))">>
  %a = "smem.alloc"() : () -> !a
  // CHECK: %[[B:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<2,4,3> o ((32,2),64):((1,2048),32)">>
  %b = "smem.alloc"() : () -> !b
  // CHECK: "smem.mma"(%[[A]], %[[B]])
  %d = "smem.mma"(%a, %b) : (!a, !b) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// The order of atoms along the contiguous dimension first: not what would be chosen, but legal.
// CHECK-LABEL: func.func @other_order
func.func @other_order() {
  // CHECK: #smem.layout<"Swizzle<3,4,3> o ((8,8),(64,2)):((64,1024),(1,512))">
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x128xbf16>, #smem.layout<"Swizzle<3,4,3> o ((8,8),(64,2)):((64,1024),(1,512))">>
  return
}
