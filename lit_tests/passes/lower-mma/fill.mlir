// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!c2 = !smem.fragment<tensor<128x8xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @value
func.func @value(%v: f32) {
  // CHECK: %[[S:.*]] = llvm.mlir.poison : !llvm.struct<(f32, f32, f32, f32)>
  // CHECK-NEXT: %[[S0:.*]] = llvm.insertvalue %[[V:.*]], %[[S]][0]
  // CHECK-NEXT: %[[S1:.*]] = llvm.insertvalue %[[V]], %[[S0]][1]
  // CHECK-NEXT: %[[S2:.*]] = llvm.insertvalue %[[V]], %[[S1]][2]
  // CHECK-NEXT: llvm.insertvalue %[[V]], %[[S2]][3]
  %0 = "smem.fill"(%v) : (f32) -> !c
  return
}

// CHECK-LABEL: func.func @zero
func.func @zero() {
  // CHECK: llvm.mlir.zero : !llvm.struct<(struct<(f32, f32, f32, f32)>, struct<(f32, f32, f32, f32)>)>
  %v = arith.constant 0.0 : f32
  %0 = "smem.fill"(%v) : (f32) -> !c2
  return
}

// Negative zero is not the zero of llvm.mlir.zero.
// CHECK-LABEL: func.func @minus_zero
func.func @minus_zero() {
  // CHECK-NOT: llvm.mlir.zero
  // CHECK: llvm.insertvalue
  %v = arith.constant -0.0 : f32
  %0 = "smem.fill"(%v) : (f32) -> !c
  return
}
