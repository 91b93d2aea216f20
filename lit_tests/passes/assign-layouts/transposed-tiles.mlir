// The layout of a tile satisfies the uses of the tile and of its transposes.

// RUN: smem-opt %s --smem-assign-layouts=explain=true -o %t 2> %t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// Attention: S = Q K^T and O = P V, with one tile of keys and one of values in each stage, which are row-major.
!keys = !smem.tile<tensor<2x128x64xbf16>, #smem.auto>
!key = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!key_t = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!q = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!p = !smem.fragment<tensor<64x128xbf16>, #smem.a_fragment>
!s = !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
!o = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
// CHECK-LABEL: func.func @both
func.func @both(%K: memref<128x64xbf16>, %q: !q, %p: !p, %i: index) {
  // CHECK: %[[K:.*]] = "smem.alloc"() : () -> !smem.tile<tensor<2x128x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (2,128,64):(8192,64,1)">>
  // REMARK: picked   swizzle 128B, row-major, atoms across: B of the mma at {{[0-9:]+}}: K-major, {{.*}}; B of the mma at {{[0-9:]+}}: MN-major, {{.*}}; the copy at {{[0-9:]+}}: no bank conflicts
  // REMARK: refused  swizzle 128B, column-major, atoms across: the copy at {{[0-9:]+}}: the data in global memory is row-major
  %keys = "smem.alloc"() : () -> !keys
  // CHECK: %[[STAGE:.*]] = "smem.stage"(%[[K]], %{{.*}}) : {{.*}} -> !smem.tile<tensor<128x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (128,64):(64,1)">>
  %key = "smem.stage"(%keys, %i) : (!keys, index) -> !key
  "smem.copy"(%K, %key) : (memref<128x64xbf16>, !key) -> ()
  // CHECK: %[[T:.*]] = "smem.transpose"(%[[STAGE]]) : {{.*}} -> !smem.tile<tensor<64x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,128):(1,64)">>
  %t = "smem.transpose"(%key) : (!key) -> !key_t
  // CHECK: "smem.mma"(%{{.*}}, %[[T]])
  %s = "smem.mma"(%q, %t) : (!q, !key_t) -> !s
  // CHECK: "smem.mma"(%{{.*}}, %[[STAGE]])
  %o = "smem.mma"(%p, %key) : (!p, !key) -> !o
  return
}

// A copy to the transpose of a tile: its columns are contiguous.
!t = !smem.tile<tensor<64x128xbf16>, #smem.auto>
// CHECK-LABEL: func.func @fills_the_transpose
func.func @fills_the_transpose(%A: memref<128x64xbf16>) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,128):(1,64)">>
  %a = "smem.alloc"() : () -> !t
  %t = "smem.transpose"(%a) : (!t) -> !key
  "smem.copy"(%A, %t) : (memref<128x64xbf16>, !key) -> ()
  return
}

// A copy between tiles whose source has no layout yet: the transpose of a tile that can be column-major only.
!k = !smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "row-major">>
!f = !smem.tile<tensor<64x64xtf32>, #smem.auto>
!df = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
// CHECK-LABEL: func.func @other_end
func.func @other_end(%a: !k, %m: memref<64x64xf32>) {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x64xtf32>, #smem.layout<"Swizzle<3,4,3> o ((32,2),64):((1,2048),32)">>
  %b = "smem.alloc"() : () -> !f
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<64x64xtf32>, #smem.layout<"Swizzle<3,4,3> o (64,(32,2)):(32,(1,2048))">>
  %s = "smem.alloc"() : () -> !f
  %t = "smem.transpose"(%s) : (!f) -> !f
  "smem.copy"(%m, %s) : (memref<64x64xf32>, !f) -> ()
  gpu.barrier
  "smem.copy"(%t, %b) : (!f, !f) -> ()
  %d = "smem.mma"(%a, %b) : (!k, !f) -> !df
  return
}
