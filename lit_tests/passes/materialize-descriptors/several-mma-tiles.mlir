// The steps of MMA tiles, along m/n and then along k, in 16-byte units. A is K-major with swizzle 64B, SBO 512:
// 0x8000002000010000.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!a = !smem.tile<tensor<64x32xbf16>, #smem.swizzle<"64B", "row-major">>

// B K-major, 512 columns: two MMA tiles of 256. 256 columns of 64 bytes are 1024 units. B has the descriptor
// of A.
// CHECK-LABEL: func.func @columns_k_major
!bk = !smem.tile<tensor<32x512xbf16>, #smem.swizzle<"64B", "column-major">>
func.func @columns_k_major() {
  // CHECK: arith.constant -9223371899415756800 : i64
  // CHECK: arith.constant -9223371899415756800 : i64
  // CHECK: "smem.mma_desc"{{.*}}b_major = "k", b_steps = array<i64: 0, 2, 1024, 1026>
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %b = "smem.alloc"() {offset = 32768 : i64} : () -> !bk
  %d = "smem.mma"(%a, %b) : (!a, !bk) -> !smem.fragment<tensor<64x512xf32>, #smem.in_flight>
  return
}

// B MN-major, 320 columns: MMA tiles of 256 and 64. 64 columns and 32 rows of k are 4096 bytes, 256 units; the
// second MMA tile begins four times that further. 16 rows of k are 2048 bytes, 128 units. The second MMA tile is one
// atom wide and needs no LBO; for the first it is 4096 bytes: 0x4000004001000000.
// CHECK-LABEL: func.func @columns_mn_major
!bmn = !smem.tile<tensor<32x320xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @columns_mn_major() {
  // CHECK: arith.constant -9223371899415756800 : i64
  // CHECK: arith.constant 4611686293322072064 : i64
  // CHECK: "smem.mma_desc"{{.*}}b_major = "mn", b_steps = array<i64: 0, 128, 1024, 1152>
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %b = "smem.alloc"() {offset = 32768 : i64} : () -> !bmn
  %d = "smem.mma"(%a, %b) : (!a, !bmn) -> !smem.fragment<tensor<64x320xf32>, #smem.in_flight>
  return
}
