// If the result is readable, its registers pass through the inline assembly of the instruction (each output is tied
// to an input): reads of them cannot move before the wait.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d2 = !smem.fragment<tensor<128x8xf32>, #smem.in_flight>
!c2 = !smem.fragment<tensor<128x8xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @readable
func.func @readable(%a: i64, %b: i64) -> f32 {
  // CHECK: %[[D:.*]] = nvvm.wgmma.mma_async
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  // CHECK: %[[R0:.*]] = llvm.extractvalue %[[D]][0]
  // CHECK: %[[R1:.*]] = llvm.extractvalue %[[D]][1]
  // CHECK: %[[R2:.*]] = llvm.extractvalue %[[D]][2]
  // CHECK: %[[R3:.*]] = llvm.extractvalue %[[D]][3]
  // CHECK: %[[C:.*]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}" %[[R0]], %[[R1]], %[[R2]], %[[R3]] : (f32, f32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  %1 = "smem.wait"(%0) {pending = 0 : i32} : (!d) -> !c
  // CHECK: builtin.unrealized_conversion_cast %[[C]]
  %2 = builtin.unrealized_conversion_cast %1 : !c to f32
  return %2 : f32
}

// Registers in flight must not be accessed: no inline assembly.
// CHECK-LABEL: func.func @in_flight
func.func @in_flight(%a: i64, %b: i64) -> f32 {
  // CHECK: %[[D:.*]] = nvvm.wgmma.mma_async
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
  // CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 2
  %1 = "smem.wait"(%0) {pending = 2 : i32} : (!d) -> !d
  // CHECK-NEXT: builtin.unrealized_conversion_cast %[[D]]
  %2 = builtin.unrealized_conversion_cast %1 : !d to f32
  return %2 : f32
}

// One instruction waits; the registers of further blocks pass through empty assembly after it, which LLVM does not
// move.
// CHECK-LABEL: func.func @two_blocks
func.func @two_blocks(%a: i64, %b: i64) {
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 512>, b_steps = array<i64: 0>} : (i64, i64) -> !d2
  // CHECK: %[[C0:.*]] = llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 0;", "=f,=f,=f,=f,0,1,2,3,~{memory}"
  // CHECK-NOT: wgmma.wait_group
  // CHECK: %[[C1:.*]] = llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,0,1,2,3,~{memory}"
  // CHECK: llvm.insertvalue %[[C0]], %{{.*}}[0]
  // CHECK: llvm.insertvalue %[[C1]], %{{.*}}[1]
  %1 = "smem.wait"(%0) {pending = 0 : i32} : (!d2) -> !c2
  return
}
