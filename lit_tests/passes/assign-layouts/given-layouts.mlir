// A given swizzle is expanded to its layout, and a given layout is kept; no layout is chosen.

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

// Atoms ordered along the contiguous dimension first: legal, although it would not be chosen.
// CHECK-LABEL: func.func @other_order
func.func @other_order() {
  // CHECK: #smem.layout<"Swizzle<3,4,3> o ((8,8),(64,2)):((64,1024),(1,512))">
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x128xbf16>, #smem.layout<"Swizzle<3,4,3> o ((8,8),(64,2)):((64,1024),(1,512))">>
  return
}
