// A sparse A has metadata as an operand after the descriptors. An A in registers has no descriptor.

// RUN: smem-opt %s --smem-materialize-descriptors | FileCheck %s

!a = !smem.tile<tensor<64x32xbf16>, #smem.swizzle<"64B", "row-major">>
!r = !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>
!b = !smem.tile<tensor<64x16xbf16>, #smem.swizzle<"128B", "column-major">>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
!d = !smem.fragment<tensor<64x16xf32>, #smem.in_flight>

// CHECK-LABEL: func.func @sparse(
// CHECK-SAME: %[[R:[a-z0-9]+]]: {{[^,]*,[^,]*}}, %[[E:[a-z0-9]+]]: !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @sparse(%r: !r, %e: !e) {
  // 64 bytes (2 << 62), SBO 512 (32 << 32), LBO 1; then 128 bytes (1 << 62), SBO 1024.
  // CHECK: arith.constant -9223371899415756800 : i64
  // CHECK: %[[A:[0-9]+]] = llvm.inline_asm "", "=l,0"
  // CHECK: arith.constant 4611686293305360384 : i64
  // CHECK: %[[B:[0-9]+]] = llvm.inline_asm "", "=l,0"
  %a = "smem.alloc"() {offset = 0 : i64} : () -> !a
  %b = "smem.alloc"() {offset = 8192 : i64} : () -> !b
  // An instruction reads 32 bytes of a row of A, and 64 of a column of B.
  // CHECK: %[[D:[0-9]+]] = "smem.mma_desc_sp"(%[[A]], %[[B]], %[[E]]) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2>, b_element = "bf16", b_major = "k", b_steps = array<i64: 0, 4>}
  %0 = "smem.mma_sp"(%a, %b, %e) : (!a, !b, !e) -> !d
  // CHECK: "smem.mma_desc_sp"(%[[R]], %[[B]], %[[E]], %[[D]]) {a_element = "bf16", a_major = "k", a_steps = array<i64>, b_element = "bf16", b_major = "k", b_steps = array<i64: 0, 4>, negate_b}
  %1 = "smem.mma_sp"(%r, %b, %e, %0) {negate_b} : (!r, !b, !e, !d) -> !d
  return
}

// CHECK-LABEL: func.func @registers(
// CHECK-SAME: %[[R:[a-z0-9]+]]:
func.func @registers(%r: !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>) {
  // CHECK: %[[B:[0-9]+]] = llvm.inline_asm "", "=l,0"
  %b = "smem.alloc"() {offset = 8192 : i64} : () -> !b
  // CHECK: "smem.mma_desc"(%[[R]], %[[B]]) {a_element = "bf16", a_major = "k", a_steps = array<i64>, b_element = "bf16", b_major = "k", b_steps = array<i64: 0, 2, 4, 6>}
  %0 = "smem.mma"(%r, %b) : (!smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>, !b) -> !d
  return
}
