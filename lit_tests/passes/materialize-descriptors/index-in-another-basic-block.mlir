// The index of a stage may be computed in another basic block of the function. The tile is read as A, K-major,
// 0x4000004000010000, and as B, N-major in one atom without LBO, 0x4000004000000000.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!t = !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!s = !smem.tile<tensor<64x64xbf16>, #smem.auto>

// CHECK: func.func @branch(%[[I:.*]]: index)
func.func @branch(%i: index) {
  // CHECK: %[[A_CONSTANT:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-NEXT: %[[A_BITS:.*]] = arith.ori %{{.*}}, %[[A_CONSTANT]] : i64
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK: %[[B_CONSTANT:.*]] = arith.constant 4611686293305294848 : i64
  // CHECK-NEXT: %[[B_BITS:.*]] = arith.ori %{{.*}}, %[[B_CONSTANT]] : i64
  // CHECK-NEXT: %[[B:.*]] = llvm.inline_asm "", "=l,0" %[[B_BITS]]
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  cf.br ^next
^next:
  // CHECK: arith.index_cast %[[I]] : index to i64
  // CHECK: %[[A_STAGE:.*]] = arith.addi %[[A]],
  // CHECK: %[[B_STAGE:.*]] = arith.addi %[[B]],
  // CHECK: "smem.mma_desc"(%[[A_STAGE]], %[[B_STAGE]])
  %s = "smem.stage"(%t, %i) : (!t, index) -> !s
  %d = "smem.mma"(%s, %s) : (!s, !s) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
