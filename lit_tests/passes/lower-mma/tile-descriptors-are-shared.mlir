// The descriptor of an MMA tile is computed once in a basic block, and the constants of the steps are at the entry of
// the function, outside of loops.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>

// CHECK: func.func @loop(%[[A:.*]]: i64, %[[B:.*]]: i64
func.func @loop(%a: i64, %b: i64, %n: index, %v: f32) {
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i64
  // CHECK-DAG: %[[C128:.*]] = arith.constant 128 : i64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %start = "smem.fill"(%v) : (f32) -> !d
  // CHECK: scf.for
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> !d {
    // CHECK-NEXT: nvvm.wgmma.fence.aligned
    // CHECK-NEXT: %[[A1:.*]] = arith.addi %[[A]], %[[C2]] : i64
    // CHECK-NEXT: %[[B1:.*]] = arith.addi %[[B]], %[[C128]] : i64
    // CHECK-NEXT: nvvm.wgmma.mma_async %[[A]], %[[B]],
    // CHECK-NEXT: nvvm.wgmma.mma_async %[[A1]], %[[B1]],
    // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
    %0 = "smem.mma_desc"(%a, %b, %acc) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64, !d) -> !d
    // CHECK-NEXT: nvvm.wgmma.fence.aligned
    // CHECK-NEXT: nvvm.wgmma.mma_async %[[A]], %[[B]],
    // CHECK-NEXT: nvvm.wgmma.mma_async %[[A1]], %[[B1]],
    // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
    %1 = "smem.mma_desc"(%a, %b, %0) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64, !d) -> !d
    // CHECK-NEXT: scf.yield
    scf.yield %1 : !d
  }
  return
}
