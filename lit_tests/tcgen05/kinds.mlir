// The instruction descriptor of each kind, with types, majorness and modifiers.

// RUN: smem-opt %s --smem-lower-mma=arch=sm_100a | FileCheck %s

!f32 = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!i32 = !smem.fragment<tensor<64x32xi32>, #smem.in_flight>

func.func @kinds(%a: i64, %b: i64, %keep: i1) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 448 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline

  // f16: D f32 (0x10), N = 64 (0x00100000), M = 64 (0x04000000).
  // CHECK: arith.constant 68157456 : i32
  // CHECK: kind = #nvvm.tcgen05_mma_kind<f16>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // bf16 (0x80, 0x400), A and B MN-major (0x18000), A negated (0x2000): 0x0411a490.
  // CHECK: arith.constant 68265104 : i32
  // CHECK: kind = #nvvm.tcgen05_mma_kind<f16>
  %1 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "mn", b_major = "mn", negate_a, a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // tf32 (0x100, 0x800): 0x04100910.
  // CHECK: arith.constant 68159760 : i32
  // CHECK: kind = #nvvm.tcgen05_mma_kind<tf32>
  %2 = "smem.mma_desc"(%a, %b) {a_element = "tf32", b_element = "tf32", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // e4m3 by e5m2 (0x400), B negated (0x4000): 0x04104410.
  // CHECK: arith.constant 68174864 : i32
  // CHECK: kind = #nvvm.tcgen05_mma_kind<f8f6f4>
  %3 = "smem.mma_desc"(%a, %b) {a_element = "e4m3", b_element = "e5m2", a_major = "k", b_major = "k", negate_b, a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // D s32 (0x20), A s8 (0x80), B u8, N = 32 (0x00080000): 0x040800a0.
  // CHECK: arith.constant 67633312 : i32
  // CHECK: kind = #nvvm.tcgen05_mma_kind<i8>
  %4 = "smem.mma_desc"(%a, %b) {a_element = "s8", b_element = "u8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !i32
  // Saturated (0x8): 0x04080028. The accumulator is added if a condition holds.
  // CHECK-DAG: arith.constant 67633192 : i32
  // CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{arg2|keep}} {ctaGroup
  %5 = "smem.scale_d"(%4, %keep) : (!i32, i1) -> !i32
  %6 = "smem.mma_desc"(%a, %b, %5) {a_element = "u8", b_element = "u8", a_major = "k", b_major = "k", satfinite, a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !i32) -> !i32
  return
}

// CHECK-LABEL: func.func @narrow
func.func @narrow(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 128 : i32, depth = 1 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  // e2m1_p64 (0x280) by e3m2_p32 (0x1000): 0x04101290.
  // CHECK: arith.constant 68162192 : i32
  // CHECK: kind = #nvvm.tcgen05_mma_kind<f8f6f4>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "e2m1_p64", b_element = "e3m2_p32", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // e2m3_p32 (0x180) by e4m3: 0x04100190.
  // CHECK: arith.constant 68157840 : i32
  // CHECK: kind = #nvvm.tcgen05_mma_kind<f8f6f4>
  %1 = "smem.mma_desc"(%a, %b) {a_element = "e2m3_p32", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  return
}
