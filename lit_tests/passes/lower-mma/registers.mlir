// The registers of a fragment and the elements of a vector are the same values.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!h = !smem.fragment<tensor<128x8xf16>, #smem.accumulator>
!a = !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>

// CHECK-LABEL: func.func @to_vector
func.func @to_vector(%c: !c) -> vector<4xf32> {
  // CHECK: %[[R0:.*]] = llvm.extractvalue %arg0[0]
  // CHECK: %[[R1:.*]] = llvm.extractvalue %arg0[1]
  // CHECK: %[[R2:.*]] = llvm.extractvalue %arg0[2]
  // CHECK: %[[R3:.*]] = llvm.extractvalue %arg0[3]
  // CHECK: %[[V:.*]] = vector.from_elements %[[R0]], %[[R1]], %[[R2]], %[[R3]] : vector<4xf32>
  // CHECK-NEXT: return %[[V]]
  %0 = "smem.to_registers"(%c) : (!c) -> vector<4xf32>
  return %0 : vector<4xf32>
}

// Two blocks of 64 rows, each of two registers with two f16.
// CHECK-LABEL: func.func @of_blocks
func.func @of_blocks(%v: vector<8xf16>) -> !h {
  // CHECK: %[[W:.*]] = vector.bitcast %arg0 : vector<8xf16> to vector<4xi32>
  // CHECK: %[[W0:.*]] = vector.extract %[[W]][0]
  // CHECK: %[[W1:.*]] = vector.extract %[[W]][1]
  // CHECK: llvm.insertvalue %[[W0]], %{{.*}}[0] : !llvm.struct<(i32, i32)>
  // CHECK: llvm.insertvalue %[[W1]], %{{.*}}[1] : !llvm.struct<(i32, i32)>
  // CHECK: %[[W2:.*]] = vector.extract %[[W]][2]
  // CHECK: %[[W3:.*]] = vector.extract %[[W]][3]
  // CHECK: llvm.insertvalue %[[W2]], %{{.*}}[0] : !llvm.struct<(i32, i32)>
  // CHECK: llvm.insertvalue %[[W3]], %{{.*}}[1] : !llvm.struct<(i32, i32)>
  %0 = "smem.from_registers"(%v) : (vector<8xf16>) -> !h
  return %0 : !h
}

// CHECK-LABEL: func.func @of_a
func.func @of_a(%v: vector<8xbf16>) -> !a {
  // CHECK: vector.bitcast %arg0 : vector<8xbf16> to vector<4xi32>
  // CHECK-COUNT-4: llvm.insertvalue {{.*}} : !llvm.struct<(i32, i32, i32, i32)>
  %0 = "smem.from_registers"(%v) : (vector<8xbf16>) -> !a
  return %0 : !a
}
