// Sparse mma: the register of the metadata, and the selector of the threads whose words are read.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!e = !smem.fragment<tensor<64x96xbf16>, #smem.metadata>

// Two instructions along k share a word; the third reads another.
// CHECK: func.func @shared_words(%[[A:.*]]: i64, %[[B:.*]]: i64, %[[E:.*]]: !llvm.struct<(i32, i32)>)
func.func @shared_words(%a: i64, %b: i64, %e: !e) -> !d {
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK: %[[E0:.*]] = llvm.extractvalue %[[E]][0]
  // CHECK: %[[E1:.*]] = llvm.extractvalue %[[E]][1]
  // CHECK: llvm.inline_asm has_side_effects "{\0A.reg .pred p;\0Asetp.ne.b32 p, 0, 0;\0Awgmma.mma_async.sp.sync.aligned.m64n8k32.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, $10, 0, p, 1, 1, 0, 1;\0A}", "=f,=f,=f,=f,0,1,2,3,l,l,r" {{.*}}, %[[A]], %[[B]], %[[E0]] :
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 p, 1, 0;{{.*}} $8, $9, $10, 1, p, {{.*}}, %[[E0]] :
  // CHECK: llvm.inline_asm has_side_effects "{{.*}} $8, $9, $10, 0, p, {{.*}}, %[[E1]] :
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2, 4>, b_steps = array<i64: 0, 256, 512>} : (i64, i64, !e) -> !d
  return %0 : !d
}

// 8-bit types: a word each, of all threads.
!di = !smem.fragment<tensor<64x8xi32>, #smem.in_flight>
!e8 = !smem.fragment<tensor<64x128xi8>, #smem.metadata>
// CHECK: func.func @bytes(%{{.*}}: i64, %{{.*}}: i64, %[[E:.*]]: !llvm.struct<(i32, i32)>)
func.func @bytes(%a: i64, %b: i64, %e: !e8) -> !di {
  // CHECK: %[[E0:.*]] = llvm.extractvalue %[[E]][0]
  // CHECK: %[[E1:.*]] = llvm.extractvalue %[[E]][1]
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}wgmma.mma_async.sp.sync.aligned.m64n8k64.s32.s8.u8 {$0, $1, $2, $3}, $8, $9, $10, 0, p;{{.*}}, %[[E0]] :
  // CHECK: llvm.inline_asm has_side_effects "{{.*}} $8, $9, $10, 0, p;{{.*}}, %[[E1]] :
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "s8", b_element = "u8", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 4>} : (i64, i64, !e8) -> !di
  return %0 : !di
}

// 128 rows, and A in registers: the words of the second block follow those of the first.
!d2 = !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
!e2 = !smem.fragment<tensor<128x16xtf32>, #smem.metadata>
!a2 = !smem.fragment<tensor<128x8xtf32>, #smem.a_fragment>
// CHECK: func.func @two_blocks(%{{.*}}, %{{.*}}: i64, %[[E:.*]]: !llvm.struct<(i32, i32)>)
func.func @two_blocks(%a: !a2, %b: i64, %e: !e2) -> !d2 {
  // CHECK: %[[E0:.*]] = llvm.extractvalue %[[E]][0]
  // CHECK: %[[E1:.*]] = llvm.extractvalue %[[E]][1]
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}.sp.sync.aligned.m64n8k16.f32.tf32.tf32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, $13, 0, p, 1, 1;{{.*}}", "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r" {{.*}}, %[[E0]] :
  // CHECK: llvm.inline_asm has_side_effects "{{.*}}.sp.sync.aligned.{{.*}}, %[[E1]] :
  %0 = "smem.mma_desc_sp"(%a, %b, %e) {a_element = "tf32", b_element = "tf32", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0>} : (!a2, i64, !e2) -> !d2
  return %0 : !d2
}
