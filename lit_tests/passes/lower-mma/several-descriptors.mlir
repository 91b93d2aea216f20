// An operand with several descriptors: the step of each MMA tile is added to its own descriptor.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<128x8xf32>, #smem.in_flight>

// The vector of descriptors is erased.
// CHECK: func.func @made_here(%[[A0:.*]]: i64, %[[A1:.*]]: i64, %[[B:.*]]: i64)
func.func @made_here(%a0: i64, %a1: i64, %b: i64) {
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : i64
  // CHECK-DAG: %[[C512:.*]] = arith.constant 512 : i64
  // CHECK-NOT: vector
  // CHECK: nvvm.wgmma.fence.aligned
  // CHECK-DAG: %[[A2:.*]] = arith.addi %[[A0]], %[[C512]] : i64
  // CHECK-DAG: %[[A3:.*]] = arith.addi %[[A1]], %[[C512]] : i64
  // CHECK-DAG: %[[B1:.*]] = arith.addi %[[B]], %[[C2]] : i64
  // CHECK: nvvm.wgmma.mma_async %[[A0]], %[[B]],
  // CHECK-NEXT: nvvm.wgmma.mma_async %[[A2]], %[[B]],
  // CHECK-NEXT: nvvm.wgmma.mma_async %[[A1]], %[[B1]],
  // CHECK-NEXT: nvvm.wgmma.mma_async %[[A3]], %[[B1]],
  // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
  %a = vector.from_elements %a0, %a1 : vector<2xi64>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0, 512, 512>, a_bases = array<i64: 0, 1, 0, 1>, b_steps = array<i64: 0, 2>} : (vector<2xi64>, i64) -> !d
  return
}

// CHECK: func.func @given(%[[V:.*]]: vector<2xi64>, %[[B:.*]]: i64)
func.func @given(%a: vector<2xi64>, %b: i64) {
  // CHECK: %[[A0:.*]] = vector.extract %[[V]][0] : i64 from vector<2xi64>
  // CHECK-NEXT: %[[A1:.*]] = vector.extract %[[V]][1] : i64 from vector<2xi64>
  // CHECK: nvvm.wgmma.mma_async %[[A0]], %[[B]],
  // CHECK: nvvm.wgmma.mma_async %[[A1]], %
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 0, 512, 512>, a_bases = array<i64: 0, 1, 0, 1>, b_steps = array<i64: 0, 2>} : (vector<2xi64>, i64) -> !d
  return
}
