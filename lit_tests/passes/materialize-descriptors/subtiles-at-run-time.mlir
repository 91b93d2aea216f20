// The run-time offset of a stage or a subtile is one multiplication and one addition, in 16-byte units, at the op
// that uses it.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!ta = !smem.tile<tensor<4x128x64xbf16>, #smem.swizzle<"128B", "row-major">>
!tb = !smem.tile<tensor<4x64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!rows = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x128xf32>, #smem.in_flight>

// A stage of A is 128 * 128 bytes, 1024 units; so is one of B. A row of A is 8 units. The row is loop-invariant
// and added first, so that loop-invariant code motion can move the addition out of the loop. A is K-major,
// 0x4000004000010000; B is N-major, LBO 8192 to the next 64 columns, 0x4000004002000000.
// CHECK: func.func @stage_and_row(%[[ROW:.*]]: index, %{{.*}}: index)
func.func @stage_and_row(%row: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: %[[A_CONSTANT:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-NEXT: %[[A_BITS:.*]] = arith.ori %{{.*}}, %[[A_CONSTANT]] : i64
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK: %[[B_CONSTANT:.*]] = arith.constant 4611686293338849280 : i64
  // CHECK-NEXT: %[[B_BITS:.*]] = arith.ori %{{.*}}, %[[B_CONSTANT]] : i64
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

// Static offsets are added to the address: row 64 is 64 * 128 bytes, stage 2 is 2 * 16384.
// CHECK-LABEL: func.func @static
func.func @static(%b: !b) {
  // CHECK: %[[TILE:.*]] = llvm.getelementptr %{{.*}}[40960] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: %[[A_CONSTANT:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-NEXT: %[[A_BITS:.*]] = arith.ori %{{.*}}, %[[A_CONSTANT]] : i64
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK: llvm.getelementptr %{{.*}}[98304] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: arith.constant 4611686293338849280 : i64
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

// A column of a K-major A is inside an atom: column 16 is 32 bytes, 2 units, further. If an offset may lead to
// another atom, the quotient is the number of the atom and the remainder the column in it. B is N-major in four atoms
// of 16 columns and 8 rows, 256 bytes each: SBO 256, LBO 512, 0xc000001000200000.
!wide = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!slice = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!bslice = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"32B", "row-major">>
// CHECK: func.func @columns(%[[K:.*]]: index)
func.func @columns(%k: index) {
  // CHECK: %[[A_CONSTANT:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-NEXT: %[[A_BITS:.*]] = arith.ori %{{.*}}, %[[A_CONSTANT]] : i64
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK: %[[B_CONSTANT:.*]] = arith.constant -4611685949705814016 : i64
  // CHECK-NEXT: arith.ori %{{.*}}, %[[B_CONSTANT]] : i64
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
