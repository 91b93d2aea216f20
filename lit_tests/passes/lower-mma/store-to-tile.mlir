// Stores of an accumulator to a tile: by stmatrix for 16-bit elements, else in pairs of columns, or one by one.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!c24 = !smem.fragment<tensor<64x24xf32>, #smem.accumulator>
!t24 = !smem.tile<tensor<64x24xbf16>, #smem.swizzle<"none", "row-major">>
// 16 columns are four matrices; the remaining 8 are two.
// CHECK-LABEL: func.func @matrices
func.func @matrices(%c: !c24) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[PAIR:.*]] = vector.from_elements
  // CHECK-NEXT: %[[NARROW:.*]] = arith.truncf %[[PAIR]] : vector<2xf32> to vector<2xbf16>
  // CHECK-NEXT: %[[WORD:.*]] = llvm.bitcast %[[NARROW]] : vector<2xbf16> to i32
  // CHECK: nvvm.stmatrix %{{.*}}, %[[WORD]], %{{.*}}, %{{.*}}, %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : !llvm.ptr<3>, i32, i32, i32, i32
  // CHECK: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}} {{{.*}}layout = #nvvm.mma_layout<row>{{.*}}} : !llvm.ptr<3>, i32, i32{{$}}
  // CHECK-NOT: nvvm.stmatrix
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t24
  "smem.store"(%c, %t) : (!c24, !t24) -> ()
  return
}

// M contiguous: stmatrix transposes, at swizzled addresses.
!c16 = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!m = !smem.tile<tensor<64x16xf16>, #smem.swizzle<"128B", "column-major">>
// CHECK-LABEL: func.func @transposed
func.func @transposed(%c: !c16) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[PHASE:.*]] = arith.andi %{{.*}}, %c112_i32 : i32
  // CHECK-NEXT: %[[AT:.*]] = arith.xori %{{.*}}, %[[PHASE]] : i32
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[AT]]]
  // CHECK-NEXT: nvvm.stmatrix %[[P]], {{.*}}layout = #nvvm.mma_layout<col>
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !m
  "smem.store"(%c, %t) : (!c16, !m) -> ()
  return
}

// Registers of f16 are operands of stmatrix without conversion.
!h = !smem.fragment<tensor<64x16xf16>, #smem.accumulator>
// CHECK: func.func @halves(%[[H:.*]]: !llvm.struct<(i32, i32, i32, i32)>)
func.func @halves(%c: !h) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[W:.*]] = llvm.extractvalue %[[H]][0]
  // CHECK-NOT: arith.truncf
  // CHECK: nvvm.stmatrix
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !m
  "smem.store"(%c, %t) : (!h, !m) -> ()
  return
}

!c8 = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!f = !smem.tile<tensor<64x8xf32>, #smem.swizzle<"32B", "row-major">>
// CHECK: func.func @pairs(%[[C:.*]]: !llvm.struct<(f32, f32, f32, f32)>)
func.func @pairs(%c: !c8) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[PAIR:.*]] = vector.from_elements
  // CHECK: %[[AT:.*]] = arith.xori
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{.*}}[%[[AT]]]
  // CHECK-NEXT: llvm.store %[[PAIR]], %[[P]] {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
  // CHECK: arith.addi %[[AT]], %c256_i32 : i32
  // CHECK: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !f
  "smem.store"(%c, %t) : (!c8, !f) -> ()
  return
}

// Two 8-bit elements at a time; the first operand of the conversion is the upper one.
!f8 = !smem.tile<tensor<64x16xf8E4M3FN>, #smem.swizzle<"none", "row-major">>
// CHECK: func.func @bytes(%[[C:.*]]: !llvm.struct
func.func @bytes(%c: !c16) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[C0:.*]] = llvm.extractvalue %[[C]][0]
  // CHECK: %[[C1:.*]] = llvm.extractvalue %[[C]][1]
  // CHECK: %[[TWO:.*]] = nvvm.convert.f32x2.to.f8x2 %[[C1]], %[[C0]] {rnd = #nvvm.fp_rnd_mode<rn>, sat = #nvvm.sat_mode<satfinite>} : i16(f8E4M3FN)
  // CHECK: llvm.store %[[TWO]], %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<3>
  // CHECK-COUNT-3: llvm.store %{{.*}} : i16, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !f8
  "smem.store"(%c, %t) : (!c16, !f8) -> ()
  return
}

// Unsigned integers are clamped; stored one by one if columns are contiguous.
!i = !smem.fragment<tensor<64x8xi32>, #smem.accumulator>
!u8 = !smem.tile<tensor<64x8xui8>, #smem.swizzle<"none", "column-major">>
// CHECK: func.func @limited(%[[C:.*]]: !llvm.struct
func.func @limited(%c: !i) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[C0:.*]] = llvm.extractvalue %[[C]][0]
  // CHECK: %[[LEAST:.*]] = arith.maxsi %[[C0]], %c0_i32 : i32
  // CHECK-NEXT: arith.minsi %[[LEAST]], %c255_i32 : i32
  // CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 1 : i64} : i8, !llvm.ptr<3>
  // CHECK-NOT: llvm.store
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !u8
  "smem.store"(%c, %t) : (!i, !u8) -> ()
  return
}

// A stage: its offset is added to the swizzled address, whose phase is the same in every stage.
!stages = !smem.tile<tensor<2x64x8xf32>, #smem.swizzle<"32B", "row-major">>
// CHECK-LABEL: func.func @stage
func.func @stage(%c: !c8, %s: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[STAGE:.*]] = arith.index_cast %{{.*}} : index to i32
  // CHECK: %[[AT:.*]] = arith.xori
  // CHECK-NEXT: %[[P:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK-NEXT: llvm.getelementptr %[[P]][%[[AT]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !stages
  %u = "smem.stage"(%t, %s) : (!stages, index) -> !f
  "smem.store"(%c, %u) : (!c8, !f) -> ()
  return
}
