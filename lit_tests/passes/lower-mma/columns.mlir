// 8 columns of 64 rows are in 4 registers of f32 or i32, or in 2 of packed f16: columns are a subset of the registers,
// and cost no instruction.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!c = !smem.fragment<tensor<64x24xf32>, #smem.accumulator>
!last = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @last
func.func @last(%c: !c) -> !last {
  // CHECK: %[[R8:.*]] = llvm.extractvalue %arg0[8]
  // CHECK: %[[R9:.*]] = llvm.extractvalue %arg0[9]
  // CHECK: %[[R10:.*]] = llvm.extractvalue %arg0[10]
  // CHECK: %[[R11:.*]] = llvm.extractvalue %arg0[11]
  // CHECK: %[[S0:.*]] = llvm.insertvalue %[[R8]], %{{.*}}[0]
  // CHECK-NEXT: %[[S1:.*]] = llvm.insertvalue %[[R9]], %[[S0]][1]
  // CHECK-NEXT: %[[S2:.*]] = llvm.insertvalue %[[R10]], %[[S1]][2]
  // CHECK-NEXT: %[[S3:.*]] = llvm.insertvalue %[[R11]], %[[S2]][3]
  // CHECK-NEXT: return %[[S3]] : !llvm.struct<(f32, f32, f32, f32)>
  %0 = "smem.columns"(%c) {first = 16 : i64} : (!c) -> !last
  return %0 : !last
}

// A register holds two f16.
!h = !smem.fragment<tensor<64x32xf16>, #smem.accumulator>
!middle = !smem.fragment<tensor<64x16xf16>, #smem.accumulator>

// CHECK-LABEL: func.func @packed
func.func @packed(%h: !h) -> !middle {
  // CHECK: %[[R2:.*]] = llvm.extractvalue %arg0[2]
  // CHECK: %[[R5:.*]] = llvm.extractvalue %arg0[5]
  // CHECK: llvm.insertvalue %[[R2]], %{{.*}}[0]
  // CHECK: %[[S:.*]] = llvm.insertvalue %[[R5]], %{{.*}}[3] : !llvm.struct<(i32, i32, i32, i32)>
  // CHECK-NEXT: return %[[S]]
  %0 = "smem.columns"(%h) {first = 8 : i64} : (!h) -> !middle
  return %0 : !middle
}

// Two blocks of rows, each with its own struct.
!rows = !smem.fragment<tensor<128x16xi32>, #smem.accumulator>
!right = !smem.fragment<tensor<128x8xi32>, #smem.accumulator>

// CHECK-LABEL: func.func @rows
func.func @rows(%c: !rows) -> !right {
  // CHECK: %[[UPPER:.*]] = llvm.extractvalue %arg0[0]
  // CHECK: %[[LOWER:.*]] = llvm.extractvalue %arg0[1]
  // CHECK: %[[U4:.*]] = llvm.extractvalue %[[UPPER]][4]
  // CHECK: %[[L4:.*]] = llvm.extractvalue %[[LOWER]][4]
  // CHECK: llvm.insertvalue %[[U4]], %{{.*}}[0] : !llvm.struct<(i32, i32, i32, i32)>
  // CHECK: llvm.insertvalue %[[L4]], %{{.*}}[0] : !llvm.struct<(i32, i32, i32, i32)>
  %0 = "smem.columns"(%c) {first = 8 : i64} : (!rows) -> !right
  return %0 : !right
}

// 320 columns are instructions of 256 and 64: columns 192 to 320 are in both structs, and become one.
!two = !smem.fragment<tensor<64x320xf32>, #smem.accumulator>
!across = !smem.fragment<tensor<64x128xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @across_instructions
func.func @across_instructions(%c: !two) -> !across {
  // CHECK: %[[LEFT:.*]] = llvm.extractvalue %arg0[0]
  // CHECK: %[[RIGHT:.*]] = llvm.extractvalue %arg0[1]
  // CHECK: %[[L96:.*]] = llvm.extractvalue %[[LEFT]][96]
  // CHECK: %[[R0:.*]] = llvm.extractvalue %[[RIGHT]][0]
  // CHECK: llvm.insertvalue %[[L96]], %{{.*}}[0]
  // CHECK: llvm.insertvalue %[[R0]], %{{.*}}[32]
  %0 = "smem.columns"(%c) {first = 192 : i64} : (!two) -> !across
  return %0 : !across
}
