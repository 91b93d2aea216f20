// The steps of each instruction's block, along m/n and then along k, in 16-byte units.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!a = !smem.tile<tensor<64x32xbf16>, #smem.swizzle<"64B", "row-major">>

// B K-major, 512 columns: two instructions of 256. 256 columns of 64 bytes are 1024 units.
// CHECK-LABEL: func.func @columns_k_major
!bk = !smem.tile<tensor<32x512xbf16>, #smem.swizzle<"64B", "column-major">>
func.func @columns_k_major() {
  // CHECK: "smem.mma_desc"{{.*}}b_major = "k", b_steps = array<i64: 0, 2, 1024, 1026>
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %b = "smem.alloc"() {offset = 32768 : i64} : () -> !bk
  %d = "smem.mma"(%a, %b) : (!a, !bk) -> !smem.fragment<tensor<64x512xf32>, #smem.in_flight>
  return
}

// B MN-major, 320 columns: 256 and 64. An atom of 64 columns and 32 rows of k is 4096 bytes, 256 units;
// the second instruction begins four atoms on. 16 rows of k are 2048 bytes, 128 units. The second reads one
// atom and needs no LBO; the first does, from one atom to the next: 0x4000004001000000.
// CHECK-LABEL: func.func @columns_mn_major
!bmn = !smem.tile<tensor<32x320xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @columns_mn_major() {
  // CHECK: arith.constant 4611686293322072064 : i64
  // CHECK: "smem.mma_desc"{{.*}}b_major = "mn", b_steps = array<i64: 0, 128, 1024, 1152>
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %b = "smem.alloc"() {offset = 32768 : i64} : () -> !bmn
  %d = "smem.mma"(%a, %b) : (!a, !bmn) -> !smem.fragment<tensor<64x320xf32>, #smem.in_flight>
  return
}
