// A scale-d that is known at run time is a predicate of the instructions of K block 0, which depend on the old value
// of the accumulator. All other instructions add, and use upstream's op.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

// CHECK: func.func @scale_d(%[[A:.*]]: i64, %[[B:.*]]: i64, %[[C:.*]]: !llvm.struct<(f32, f32, f32, f32)>, %[[KEEP:.*]]: i1)
func.func @scale_d(%a: i64, %b: i64, %c: !c, %keep: i1) -> !d {
  // CHECK-NOT: smem.scale_d
  // CHECK: %[[GIVEN:.*]] = llvm.extractvalue %[[C]][0]
  // CHECK: %[[PINNED:.*]] = llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,0,1,2,3" %[[GIVEN]],
  // CHECK-NEXT: nvvm.wgmma.fence.aligned
  // CHECK: %[[WORD:.*]] = arith.extui %[[KEEP]] : i1 to i32
  // CHECK: %[[C0:.*]] = llvm.extractvalue %[[PINNED]][0]
  // CHECK: %[[D:.*]] = llvm.inline_asm has_side_effects "{\0A.reg .pred p;\0Asetp.ne.b32 p, $10, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 0, 1;\0A}", "=f,=f,=f,=f,0,1,2,3,l,l,r" %[[C0]], {{.*}}, %[[A]], %[[B]], %[[WORD]] :
  // CHECK-NEXT: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %[[D]], <m = 64, n = 8, k = 16>, D[<f32>, <one>]
  // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
  %s = "smem.scale_d"(%c, %keep) : (!c, i1) -> !c
  %0 = "smem.mma_desc"(%a, %b, %s) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64, !c) -> !d
  return %0 : !d
}

// In flight, with two blocks of rows: each block has a first instruction.
!d2 = !smem.fragment<tensor<128x8xf16>, #smem.in_flight>
// CHECK-LABEL: func.func @two_blocks
func.func @two_blocks(%a: i64, %b: i64, %c: !d2, %keep: i1) -> !d2 {
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 p, $6, 0;{{.*}} {$0, $1}, $4, $5, p, 1, 1, 0, 0;{{.*}}", "=r,=r,0,1,l,l,r"
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 p, $6, 0;
  // CHECK-NOT: llvm.inline_asm
  // CHECK: nvvm.wgmma.mma_async {{.*}} D[<f16>, <one>]
  // CHECK: nvvm.wgmma.mma_async {{.*}} D[<f16>, <one>]
  // CHECK-NOT: nvvm.wgmma.mma_async
  %s = "smem.scale_d"(%c, %keep) : (!d2, i1) -> !d2
  %0 = "smem.mma_desc"(%a, %b, %s) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 512, 514>, b_steps = array<i64: 0, 2>} : (i64, i64, !d2) -> !d2
  return %0 : !d2
}
