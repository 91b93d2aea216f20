// Literal descriptors of operands that tcgen05 reads M- and N-major, and wgmma does not: 8-bit types with any
// swizzle, tf32 in atoms of 32 bytes.

// RUN: smem-opt %s --smem-materialize-descriptors=arch=sm_100a | FileCheck %s

!bytes_a = !smem.tile<tensor<128x32xf8E4M3FN>, #smem.swizzle<"128B", "column-major">>
!bytes_b = !smem.tile<tensor<32x64xf8E5M2>, #smem.swizzle<"64B", "row-major">>

// CHECK-LABEL: func.func @bytes
func.func @bytes() {
  // M-major, swizzle 128B, SBO 1024: 0x4000404000000000.
  // CHECK: arith.constant 4611756662049472512 : i64
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !bytes_a
  // N-major, swizzle 64B, SBO 512: 0x8000402000000000.
  // CHECK: arith.constant -9223301530671644672 : i64
  %b = "smem.alloc"() {offset = 4096 : i64} : () -> !bytes_b
  // One instruction: 128 rows, 64 columns, 32 of K.
  // CHECK: "smem.mma_desc"{{.*}} a_major = "mn", a_steps = array<i64: 0>, b_element = "e5m2", b_major = "mn", b_steps = array<i64: 0>
  %d = "smem.mma"(%a, %b) : (!bytes_a, !bytes_b) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  return
}

!tf32_a = !smem.tile<tensor<128x16xtf32>, #smem.swizzle<"128B_ATOM_32B", "column-major">>
!tf32_b = !smem.tile<tensor<16x32xtf32>, #smem.swizzle<"128B_ATOM_32B", "row-major">>

// CHECK-LABEL: func.func @tf32
func.func @tf32() {
  // M-major in atoms of 4 k of 32 rows, 512 bytes: SBO 512 to the next 4 k, LBO 2048 to the next 32 rows.
  // 0x2000402000800000.
  // CHECK: arith.constant 2305913515405213696 : i64
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !tf32_a
  // N-major, SBO 512: 0x2000402000000000.
  // CHECK: arith.constant 2305913515396825088 : i64
  %b = "smem.alloc"() {offset = 8192 : i64} : () -> !tf32_b
  // The next 8 of k: two atoms further.
  // CHECK: "smem.mma_desc"{{.*}} a_major = "mn", a_steps = array<i64: 0, 64>, {{.*}} b_steps = array<i64: 0, 64>
  %d = "smem.mma"(%a, %b) : (!tf32_a, !tf32_b) -> !smem.fragment<tensor<128x32xf32>, #smem.in_flight>
  return
}

!odd = !smem.tile<tensor<32x272xi8>, #smem.swizzle<"none", "row-major">>
!k = !smem.tile<tensor<64x32xi8>, #smem.swizzle<"32B", "row-major">>

// N is split as for accumulators, independent of the layout: 256 and 16.
// CHECK-LABEL: func.func @columns
func.func @columns() {
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !k
  %b = "smem.alloc"() {offset = 8192 : i64} : () -> !odd
  // CHECK: b_major = "mn", b_steps = array<i64: 0, 512>
  %d = "smem.mma"(%a, %b) : (!k, !odd) -> !smem.fragment<tensor<64x272xi32>, #smem.in_flight>
  return
}
