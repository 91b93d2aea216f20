// A stage's index may be computed in another block of the function.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!s = !smem.tile<tensor<64x64xbf16>, #smem.auto>

// CHECK: func.func @branch(%[[I:.*]]: index)
func.func @branch(%i: index) {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  cf.br ^next
^next:
  // CHECK: arith.index_cast %[[I]] : index to i64
  // CHECK: "smem.mma_desc"
  %s = "smem.stage"(%t, %i) : (!t, index) -> !s
  %d = "smem.mma"(%s, %s) : (!s, !s) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
