// Loads of an accumulator from global memory and from a tile.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

// Pairs of columns are loaded together, and extended; the second pair is 8 rows of 8 elements further.
// CHECK-LABEL: func.func @global
func.func @global(%g: memref<64x8xf16>) -> !c attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[P:.*]] = llvm.getelementptr %{{.*}} : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
  // CHECK-NEXT: %[[ABOVE:.*]] = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
  // CHECK-NEXT: %[[Q:.*]] = llvm.getelementptr %[[P]][64] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f16
  // CHECK-NEXT: llvm.load %[[Q]] {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
  // CHECK: %[[WIDE:.*]] = arith.extf %[[ABOVE]] : vector<2xf16> to vector<2xf32>
  // CHECK-NEXT: %[[C0:.*]] = vector.extract %[[WIDE]][0] : f32 from vector<2xf32>
  // CHECK-NEXT: %[[C1:.*]] = vector.extract %[[WIDE]][1] : f32 from vector<2xf32>
  // CHECK-NEXT: %[[S0:.*]] = llvm.insertvalue %[[C0]], %{{.*}}[0]
  // CHECK-NEXT: llvm.insertvalue %[[C1]], %[[S0]][1]
  %c = "smem.load"(%g) : (memref<64x8xf16>) -> !c
  return %c : !c
}

// Column-major: element by element.
// CHECK-LABEL: func.func @columns
func.func @columns(%g: memref<64x8xf32, strided<[1, ?]>>) -> !c attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> f32
  // CHECK-NOT: llvm.load
  %c = "smem.load"(%g) : (memref<64x8xf32, strided<[1, ?]>>) -> !c
  return %c : !c
}

// A tile of 16-bit elements, by ldmatrix: 16 columns, then the remaining 8. A word that it loads is a register of f16.
//
!t = !smem.tile<tensor<64x24xf16>, #smem.swizzle<"none", "row-major">>
!h = !smem.fragment<tensor<64x24xf16>, #smem.accumulator>
// CHECK-LABEL: func.func @matrices
func.func @matrices() -> !h attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK: nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<row>, num = 2 : i32
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK-NOT: arith.extf
  // CHECK: llvm.insertvalue %{{.*}}[5]
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %c = "smem.load"(%t) : (!t) -> !h
  return %c : !h
}

// bf16 is extended.
!b = !smem.tile<tensor<64x8xbf16>, #smem.swizzle<"128B", "column-major">>
// CHECK-LABEL: func.func @widened
func.func @widened() -> !c attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[M:.*]] = nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>, num = 2 : i32
  // CHECK: %[[WORD:.*]] = llvm.extractvalue %[[M]][0]
  // CHECK: %[[PAIR:.*]] = llvm.bitcast %[[WORD]] : i32 to vector<2xbf16>
  // CHECK: arith.extf %[[PAIR]] : vector<2xbf16> to vector<2xf32>
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !b
  %c = "smem.load"(%t) : (!b) -> !c
  return %c : !c
}

// A tile of f32: pairs at swizzled addresses; 8 rows of 32 bytes are one whole pattern.
!f = !smem.tile<tensor<64x8xf32>, #smem.swizzle<"32B", "row-major">>
// CHECK-LABEL: func.func @pairs
func.func @pairs() -> !c attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[AT:.*]] = arith.xori
  // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
  // CHECK-NEXT: arith.addi %[[AT]], %c256_i32 : i32
  // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !f
  %c = "smem.load"(%t) : (!f) -> !c
  return %c : !c
}
