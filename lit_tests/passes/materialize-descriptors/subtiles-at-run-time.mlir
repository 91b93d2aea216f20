// What a stage or a subtile adds at run time is one multiplication and one addition each, in 16-byte
// units, at the op that uses it.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!ta = !smem.tile<tensor<4x128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!tb = !smem.tile<tensor<4x64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!rows = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x128xf32>, #smem.in_flight>

// A stage of A is 128 * 128 bytes, 1024 units; so is one of B. A row of A is 8 units. The row does not
// change in the loop and is added first: outside, once loop-invariant code motion has run.
// CHECK: func.func @stage_and_row(%[[ROW:.*]]: index, %{{.*}}: index)
func.func @stage_and_row(%row: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[A_BITS:.*]] = arith.ori
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK: %[[B_BITS:.*]] = arith.ori
  // CHECK-NEXT: %[[B:.*]] = llvm.inline_asm "", "=l,0" %[[B_BITS]]
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !ta
  %b = "smem.alloc"() {offset = 65536 : i64} : () -> !tb
  // CHECK: scf.for %[[I:.*]] =
  scf.for %i = %c0 to %n step %c1 {
    %as = "smem.stage"(%a, %i) : (!ta, index) -> !a
    %bs = "smem.stage"(%b, %i) : (!tb, index) -> !b
    %ar = "smem.subtile"(%as, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!a, index) -> !rows
    // CHECK: "smem.subtile"
    // CHECK-NEXT: %[[ROW64:.*]] = arith.index_cast %[[ROW]] : index to i64
    // CHECK-NEXT: %[[C8:.*]] = arith.constant 8 : i64
    // CHECK-NEXT: %[[UNITS:.*]] = arith.muli %[[ROW64]], %[[C8]] : i64
    // CHECK-NEXT: %[[AR:.*]] = arith.addi %[[A]], %[[UNITS]] : i64
    // CHECK-NEXT: %[[I64:.*]] = arith.index_cast %[[I]] : index to i64
    // CHECK-NEXT: %[[C1024:.*]] = arith.constant 1024 : i64
    // CHECK-NEXT: %[[STAGE:.*]] = arith.muli %[[I64]], %[[C1024]] : i64
    // CHECK-NEXT: %[[AS:.*]] = arith.addi %[[AR]], %[[STAGE]] : i64
    // CHECK: %[[STAGEB:.*]] = arith.muli
    // CHECK-NEXT: %[[BS:.*]] = arith.addi %[[B]], %[[STAGEB]] : i64
    // CHECK-NEXT: "smem.mma_desc"(%[[AS]], %[[BS]])
    %d = "smem.mma"(%ar, %bs) : (!rows, !b) -> !d
  }
  return
}

// Static offsets are part of the address: row 64 is 64 * 128 bytes, stage 2 is 2 * 16384.
// CHECK-LABEL: func.func @static
func.func @static(%b: !b) {
  // CHECK: %[[TILE:.*]] = llvm.getelementptr %{{.*}}[40960] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: %[[A_BITS:.*]] = arith.ori
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !ta
  %bt = "smem.alloc"() {offset = 65536 : i64} : () -> !tb
  %c2 = arith.constant 2 : index
  %as = "smem.stage"(%a, %c2) : (!ta, index) -> !a
  %bs = "smem.stage"(%bt, %c2) : (!tb, index) -> !b
  %ar = "smem.subtile"(%as) {static_offsets = array<i64: 64, 0>} : (!a) -> !rows
  // CHECK-NOT: arith.muli
  // CHECK: "smem.mma_desc"(%[[A]],
  %d = "smem.mma"(%ar, %bs) : (!rows, !b) -> !d
  return
}

// A column of a K-major A lies within an atom: column 16 is 32 bytes, 2 units, further. Where an offset
// may lead to the next atom, the division says which, the remainder where in it.
!wide = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!slice = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!bslice = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"32B", "row-major">>
// CHECK: func.func @columns(%[[K:.*]]: index)
func.func @columns(%k: index) {
  // CHECK: %[[A_BITS:.*]] = arith.ori
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK: arith.ori
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !wide
  %b = "smem.alloc"() {offset = 65536 : i64} : () -> !bslice
  // CHECK: "smem.subtile"
  // CHECK: %[[C64:.*]] = arith.constant 64 : i64
  // CHECK-NEXT: %[[IN:.*]] = arith.remui %{{.*}}, %[[C64]] : i64
  // CHECK: %[[UNITS:.*]] = arith.divui %[[IN]], %{{.*}} : i64
  // CHECK: %[[WITHIN:.*]] = arith.addi %[[A]], %[[UNITS]] : i64
  // CHECK: %[[C64B:.*]] = arith.constant 64 : i64
  // CHECK-NEXT: %[[ATOM:.*]] = arith.divui %{{.*}}, %[[C64B]] : i64
  // CHECK: %[[C512:.*]] = arith.constant 512 : i64
  // CHECK-NEXT: %[[ATOMS:.*]] = arith.muli %[[ATOM]], %[[C512]] : i64
  // CHECK-NEXT: %[[AK:.*]] = arith.addi %[[WITHIN]], %[[ATOMS]] : i64
  // CHECK-NEXT: "smem.mma_desc"(%[[AK]],
  %p = "smem.subtile"(%a, %k) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 16>} : (!wide, index) -> !slice
  %d = "smem.mma"(%p, %b) : (!slice, !bslice) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}
