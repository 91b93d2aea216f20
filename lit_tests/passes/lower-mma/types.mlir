// Every pair of types with every accumulator: the instruction, its K, and the registers of D.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!f32 = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!f16 = !smem.fragment<tensor<64x8xf16>, #smem.in_flight>
!i32 = !smem.fragment<tensor<64x8xi32>, #smem.in_flight>

// CHECK-LABEL: func.func @floats
func.func @floats(%a: i64, %b: i64) {
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 16>, D[<f16>, <zero>], A[<f16>, <one>, <row>], B[<f16>, <one>, <col>] : !llvm.struct<(i32, i32)>
  %1 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f16
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)>
  %2 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 8>, D[<f32>, <zero>], A[<tf32>, <one>, <row>], B[<tf32>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)>
  %3 = "smem.mma_desc"(%a, %b) {a_element = "tf32", b_element = "tf32", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f32>, <zero>], A[<e4m3>, <one>, <row>], B[<e4m3>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)>
  %4 = "smem.mma_desc"(%a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f16>, <zero>], A[<e4m3>, <one>, <row>], B[<e4m3>, <one>, <col>] : !llvm.struct<(i32, i32)>
  %5 = "smem.mma_desc"(%a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f16
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f32>, <zero>], A[<e4m3>, <one>, <row>], B[<e5m2>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)>
  %6 = "smem.mma_desc"(%a, %b) {a_element = "e4m3", b_element = "e5m2", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f16>, <zero>], A[<e4m3>, <one>, <row>], B[<e5m2>, <one>, <col>] : !llvm.struct<(i32, i32)>
  %7 = "smem.mma_desc"(%a, %b) {a_element = "e4m3", b_element = "e5m2", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f16
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f32>, <zero>], A[<e5m2>, <one>, <row>], B[<e4m3>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)>
  %8 = "smem.mma_desc"(%a, %b) {a_element = "e5m2", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f16>, <zero>], A[<e5m2>, <one>, <row>], B[<e4m3>, <one>, <col>] : !llvm.struct<(i32, i32)>
  %9 = "smem.mma_desc"(%a, %b) {a_element = "e5m2", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f16
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f32>, <zero>], A[<e5m2>, <one>, <row>], B[<e5m2>, <one>, <col>] : !llvm.struct<(f32, f32, f32, f32)>
  %10 = "smem.mma_desc"(%a, %b) {a_element = "e5m2", b_element = "e5m2", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<f16>, <zero>], A[<e5m2>, <one>, <row>], B[<e5m2>, <one>, <col>] : !llvm.struct<(i32, i32)>
  %11 = "smem.mma_desc"(%a, %b) {a_element = "e5m2", b_element = "e5m2", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !f16
  return
}

// CHECK-LABEL: func.func @integers
func.func @integers(%a: i64, %b: i64) {
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<s32>, <zero>], A[<s8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32)>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "s8", b_element = "s8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !i32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<s32>, <zero>], A[<s8>, <one>, <row>], B[<u8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32)>
  %1 = "smem.mma_desc"(%a, %b) {a_element = "s8", b_element = "u8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !i32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<s32>, <zero>], A[<u8>, <one>, <row>], B[<s8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32)>
  %2 = "smem.mma_desc"(%a, %b) {a_element = "u8", b_element = "s8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !i32
  // CHECK: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %{{.*}}, <m = 64, n = 8, k = 32>, D[<s32>, <zero>], A[<u8>, <one>, <row>], B[<u8>, <one>, <col>] : !llvm.struct<(i32, i32, i32, i32)>
  %3 = "smem.mma_desc"(%a, %b) {a_element = "u8", b_element = "u8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !i32
  return
}

// Upstream's op omits `.and.popc`, so b1 is inline assembly. K is 256 bits.
// CHECK-LABEL: func.func @bits
func.func @bits(%a: i64, %b: i64) {
  // CHECK: %[[A2:.*]] = arith.addi %{{.*}}, %{{.*}} : i64
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 p, 0, 0;{{.*}}wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {$0, $1, $2, $3}, $8, $9, p;{{.*}}", "=r,=r,=r,=r,0,1,2,3,l,l"
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 p, 1, 0;{{.*}}and.popc {$0, $1, $2, $3}, $8, $9, p;{{.*}}", "=r,=r,=r,=r,0,1,2,3,l,l" {{.*}}, %[[A2]], %{{.*}} : (i32, i32, i32, i32, i64, i64) -> !llvm.struct<(i32, i32, i32, i32)>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "b1", b_element = "b1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 2>} : (i64, i64) -> !i32
  return
}

// CHECK-LABEL: func.func @modifiers
func.func @modifiers(%a: i64, %b: i64) {
  // CHECK: D[<f32>, <zero>], A[<f16>, <neg>, <row>], B[<f16>, <one>, <col>]
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, negate_a} : (i64, i64) -> !f32
  // CHECK: D[<f16>, <zero>], A[<e5m2>, <one>, <row>], B[<e4m3>, <neg>, <col>]
  %1 = "smem.mma_desc"(%a, %b) {a_element = "e5m2", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, negate_b} : (i64, i64) -> !f16
  // CHECK: D[<s32>, <zero>, <satfinite>], A[<s8>, <one>, <row>], B[<u8>, <one>, <col>]
  %2 = "smem.mma_desc"(%a, %b) {a_element = "s8", b_element = "u8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>, satfinite} : (i64, i64) -> !i32
  return
}

// Integers have instructions of N = 32 and 48 but not of 40, which becomes two instructions.
// CHECK-LABEL: func.func @cut
func.func @cut(%a: i64, %b: i64) {
  // CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 32, k = 32>
  // CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 8, k = 32>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "s8", b_element = "s8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0, 64>} : (i64, i64) -> !smem.fragment<tensor<64x40xi32>, #smem.in_flight>
  // CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 40, k = 32>
  %1 = "smem.mma_desc"(%a, %b) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x40xf32>, #smem.in_flight>
  return
}
