// A in registers: inline assembly, because upstream's op does not support it. The registers pass through the fence,
// so that they cannot be written after it.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!a = !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>

// CHECK: func.func @registers(%[[A:.*]]: !llvm.struct<(i32, i32, i32, i32, i32, i32, i32, i32)>, %[[B:.*]]: i64)
func.func @registers(%a: !a, %b: i64) -> !d {
  // CHECK: %[[A0:.*]] = llvm.extractvalue %[[A]][0]
  // CHECK: %[[A7:.*]] = llvm.extractvalue %[[A]][7]
  // CHECK-NOT: nvvm.wgmma.fence
  // CHECK: %[[F:.*]] = llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=r,=r,=r,=r,=r,=r,=r,=r,0,1,2,3,4,5,6,7,~{memory}" %[[A0]], {{.*}}, %[[A7]] :
  // CHECK: %[[F0:.*]] = llvm.extractvalue %[[F]][0]
  // CHECK: %[[F3:.*]] = llvm.extractvalue %[[F]][3]
  // CHECK: %[[F4:.*]] = llvm.extractvalue %[[F]][4]
  // CHECK: %[[F7:.*]] = llvm.extractvalue %[[F]][7]
  // CHECK: %[[B1:.*]] = arith.addi %[[B]], %c128_i64 : i64
  // Four registers for each K block; B has a transpose immediate, A has none.
  // CHECK: %[[D:.*]] = llvm.inline_asm has_side_effects "{\0A.reg .pred p;\0Asetp.ne.b32 p, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, -1, 1;\0A}", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l" {{.*}}, %[[F0]], {{.*}}, %[[F3]], %[[B]] :
  // CHECK: %[[D0:.*]] = llvm.extractvalue %[[D]][0]
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 p, 1, 0;{{.*}}p, 1, -1, 1;{{.*}}" %[[D0]], {{.*}}, %[[F4]], {{.*}}, %[[F7]], %[[B1]] :
  // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64>, b_steps = array<i64: 0, 128>, negate_b} : (!a, i64) -> !d
  return %0 : !d
}

// 128 rows: each block of 64 has its own registers of A. 8-bit types have no transpose immediates.
!d2 = !smem.fragment<tensor<128x8xf16>, #smem.in_flight>
!a2 = !smem.fragment<tensor<128x32xf8E5M2>, #smem.a_fragment>
// CHECK-LABEL: func.func @two_blocks
func.func @two_blocks(%a: !a2, %b: i64) -> !d2 {
  // CHECK: %[[F:.*]] = llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;"
  // CHECK: %[[F4:.*]] = llvm.extractvalue %[[F]][4]
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}.m64n8k32.f16.e5m2.e4m3 {$0, $1}, {$4, $5, $6, $7}, $8, p, 1, 1;{{.*}}", "=r,=r,0,1,r,r,r,r,l"
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}.m64n8k32.f16.e5m2.e4m3 {{.*}} %[[F4]], {{.*}}, %{{.*}} : (i32, i32, i32, i32, i32, i32, i64)
  %0 = "smem.mma_desc"(%a, %b) {a_element = "e5m2", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!a2, i64) -> !d2
  return %0 : !d2
}

// Integers have no negation immediates.
!di = !smem.fragment<tensor<64x8xi32>, #smem.in_flight>
!ai = !smem.fragment<tensor<64x32xi8>, #smem.a_fragment>
// CHECK-LABEL: func.func @integers
func.func @integers(%a: !ai, %b: i64) -> !di {
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}wgmma.mma_async.sync.aligned.m64n8k32.satfinite.s32.s8.u8 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p;
  %0 = "smem.mma_desc"(%a, %b) {a_element = "s8", b_element = "u8", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>, satfinite} : (!ai, i64) -> !di
  return %0 : !di
}
