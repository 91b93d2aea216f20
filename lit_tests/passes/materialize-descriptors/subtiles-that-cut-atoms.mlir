// A subtile that begins inside an atom and ends in another: each instruction reads 16 columns, which are all in one
// of the atoms.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

// 128 columns are two atoms of 64; the second begins 64 rows of 128 bytes further: 8192 bytes, 512 units.
!t = !smem.tile<tensor<64x128xbf16>, #smem.swizzle<"128B", "row-major">>
!subtile = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// Columns 48 to 111: 96 bytes into the first atom, and then columns 64, 80 and 96 at 0, 2 and 4 units of the
// second, 512 - 6 units from the first MMA tile. The descriptor is that of any other subtile.
// CHECK-LABEL: func.func @static
func.func @static() {
  // CHECK: %[[TILE:.*]] = llvm.getelementptr %{{.*}}[96] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
  // CHECK: %[[BITS:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-NEXT: %[[A_BITS:.*]] = arith.ori %{{.*}}, %[[BITS]] : i64
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK-NOT: arith.muli
  // CHECK: "smem.mma_desc"(%[[A]], %{{.*}}) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 506, 508, 510>, b_element
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %b = "smem.alloc"() {offset = 16384 : i64} : () -> !b
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 48>} : (!t) -> !subtile
  %d = "smem.mma"(%p, %b) : (!subtile, !b) -> !d
  return
}

// Two MMA tiles at a run-time column k: the second is in the atom of k + 16. Each has its own descriptor: column
// k % 64 in its atom, divided by 8 for units, and k / 64 atoms of 512 units.
!two = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!btwo = !smem.tile<tensor<32x64xbf16>, #smem.swizzle<"128B", "row-major">>
// CHECK: func.func @run_time(%[[K:.*]]: index)
func.func @run_time(%k: index) {
  // CHECK: %[[A_BITS:.*]] = arith.ori
  // CHECK-NEXT: %[[A:.*]] = llvm.inline_asm "", "=l,0" %[[A_BITS]]
  // CHECK: "smem.subtile"
  // CHECK-NEXT: %[[I:.*]] = arith.index_cast %[[K]] : index to i64
  // CHECK-NEXT: %[[C64:.*]] = arith.constant 64 : i64
  // CHECK-NEXT: %[[IN:.*]] = arith.remui %[[I]], %[[C64]] : i64
  // CHECK-NEXT: %[[C8:.*]] = arith.constant 8 : i64
  // CHECK-NEXT: %[[UNITS:.*]] = arith.divui %[[IN]], %[[C8]] : i64
  // CHECK-NEXT: %[[A0:.*]] = arith.addi %[[A]], %[[UNITS]] : i64
  // CHECK: %[[ATOM:.*]] = arith.divui
  // CHECK-NEXT: %[[C512:.*]] = arith.constant 512 : i64
  // CHECK-NEXT: %[[ATOMS:.*]] = arith.muli %[[ATOM]], %[[C512]] : i64
  // CHECK-NEXT: %[[FIRST:.*]] = arith.addi %[[A0]], %[[ATOMS]] : i64
  // CHECK: %[[C16:.*]] = arith.constant 16 : i64
  // CHECK-NEXT: %[[NEXT:.*]] = arith.addi %{{.*}}, %[[C16]] : i64
  // CHECK: arith.remui %[[NEXT]]
  // CHECK: %[[A1:.*]] = arith.addi %[[A]], %{{.*}} : i64
  // CHECK: %[[SECOND:.*]] = arith.addi %[[A1]], %{{.*}} : i64
  // CHECK-NEXT: %[[BOTH:.*]] = vector.from_elements %[[FIRST]], %[[SECOND]] : vector<2xi64>
  // CHECK: "smem.mma_desc"(%[[BOTH]], %{{.*}}) {a_bases = array<i64: 0, 1>, a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 0>, b_element
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %b = "smem.alloc"() {offset = 16384 : i64} : () -> !btwo
  %p = "smem.subtile"(%t, %k) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 16>} : (!t, index) -> !two
  %d = "smem.mma"(%p, %b) : (!two, !btwo) -> !d
  return
}

// Starts of nested subtiles are added, run-time and static ones: k, j and 16.
!outer = !smem.tile<tensor<64x96xbf16>, #smem.auto>
!inner = !smem.tile<tensor<64x80xbf16>, #smem.auto>
// CHECK: func.func @subtile_of_a_subtile(%[[K:.*]]: index, %[[J:.*]]: index)
func.func @subtile_of_a_subtile(%k: index, %j: index) {
  // CHECK: %[[K64:.*]] = arith.index_cast %[[K]] : index to i64
  // CHECK-NEXT: %[[J64:.*]] = arith.index_cast %[[J]] : index to i64
  // CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[K64]], %[[J64]] : i64
  // CHECK-NEXT: %[[C16:.*]] = arith.constant 16 : i64
  // CHECK-NEXT: %[[COLUMN:.*]] = arith.addi %[[SUM]], %[[C16]] : i64
  // CHECK-NEXT: %[[C64:.*]] = arith.constant 64 : i64
  // CHECK-NEXT: arith.remui %[[COLUMN]], %[[C64]] : i64
  // CHECK: a_bases = array<i64: 0, 1>
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %b = "smem.alloc"() {offset = 16384 : i64} : () -> !btwo
  %o = "smem.subtile"(%t, %k) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 16>} : (!t, index) -> !outer
  %i = "smem.subtile"(%o) {static_offsets = array<i64: 0, 16>} : (!outer) -> !inner
  %p = "smem.subtile"(%i, %j) {static_offsets = array<i64: 0, -9223372036854775808>, multiple_of = array<i64: 16>} : (!inner, index) -> !two
  %d = "smem.mma"(%p, %b) : (!two, !btwo) -> !d
  return
}
