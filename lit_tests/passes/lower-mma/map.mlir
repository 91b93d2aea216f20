// The region of an smem.map is copied for each element that a thread holds.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!h = !smem.fragment<tensor<64x8xf16>, #smem.accumulator>

// One copy for each element; captured values are shared.
// CHECK: func.func @each(%[[X:.*]]: !llvm.struct<(f32, f32, f32, f32)>, %[[Y:.*]]: !llvm.struct<(f32, f32, f32, f32)>, %[[S:.*]]: f32)
func.func @each(%x: !c, %y: !c, %s: f32) -> !c attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK: %[[X0:.*]] = llvm.extractvalue %[[X]][0]
  // CHECK: %[[X3:.*]] = llvm.extractvalue %[[X]][3]
  // CHECK: %[[Y0:.*]] = llvm.extractvalue %[[Y]][0]
  // CHECK: %[[Y3:.*]] = llvm.extractvalue %[[Y]][3]
  // CHECK: %[[P0:.*]] = arith.mulf %[[X0]], %[[S]] : f32
  // CHECK-NEXT: %[[R0:.*]] = arith.addf %[[P0]], %[[Y0]] : f32
  // CHECK-COUNT-2: arith.mulf
  // CHECK: %[[P3:.*]] = arith.mulf %[[X3]], %[[S]] : f32
  // CHECK-NEXT: %[[R3:.*]] = arith.addf %[[P3]], %[[Y3]] : f32
  // CHECK-NOT: arith.mulf
  // CHECK: llvm.insertvalue %[[R0]], %{{.*}}[0]
  // CHECK: llvm.insertvalue %[[R3]], %{{.*}}[3]
  %0 = "smem.map"(%x, %y) ({
  ^bb0(%v: f32, %w: f32):
    %scaled = arith.mulf %v, %s : f32
    %sum = arith.addf %scaled, %w : f32
    gpu.yield %sum : f32
  }) : (!c, !c) -> !c
  return %0 : !c
}

// Row and column of each, also in the regions of ops; f16 results share registers.
// CHECK: func.func @places(%[[X:.*]]: !llvm.struct<{{.*}}>, %[[BIAS:.*]]: memref<8xf32>)
func.func @places(%x: !c, %bias: memref<8xf32>) -> !h attributes {known_block_size = array<i32: 256, 1, 1>} {
  // CHECK: %[[T:.*]] = arith.remui %{{.*}}, %c128_i32 : i32
  // CHECK: %[[ROW32:.*]] = arith.addi
  // CHECK: %[[COLUMN32:.*]] = arith.muli %{{.*}}, %c2_i32 : i32
  // CHECK: %[[X0:.*]] = llvm.extractvalue %[[X]][0]
  // CHECK: %[[X1:.*]] = llvm.extractvalue %[[X]][1]
  // CHECK: %[[X2:.*]] = llvm.extractvalue %[[X]][2]
  // CHECK: %[[ROW:.*]] = arith.index_cast %[[ROW32]] : i32 to index
  // CHECK-NEXT: %[[COLUMN:.*]] = arith.index_cast %[[COLUMN32]] : i32 to index
  // CHECK-NEXT: %[[BELOW:.*]] = arith.cmpi ule, %[[COLUMN]], %[[ROW]] : index
  // CHECK-NEXT: %[[IF:.*]] = scf.if %[[BELOW]] -> (f32) {
  // CHECK-NEXT: %[[B:.*]] = memref.load %[[BIAS]][%[[COLUMN]]]
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[X0]], %[[B]] : f32
  // CHECK-NEXT: scf.yield %[[SUM]] : f32
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield %[[X0]] : f32
  // CHECK-NEXT: }
  // CHECK-NEXT: %[[H0:.*]] = arith.truncf %[[IF]] : f32 to f16
  // The next column.
  // CHECK-NEXT: %[[NEXT32:.*]] = arith.addi %[[COLUMN32]], %c1_i32 : i32
  // CHECK-NEXT: %[[NEXT:.*]] = arith.index_cast %[[NEXT32]] : i32 to index
  // CHECK-NEXT: arith.cmpi ule, %[[NEXT]], %[[ROW]] : index
  // CHECK: arith.addf %[[X1]], %{{.*}} : f32
  // CHECK: %[[H1:.*]] = arith.truncf
  // CHECK-NEXT: %[[PAIR:.*]] = vector.from_elements %[[H0]], %[[H1]] : vector<2xf16>
  // CHECK-NEXT: %[[WORD:.*]] = llvm.bitcast %[[PAIR]] : vector<2xf16> to i32
  // The row 8 below.
  // CHECK-NEXT: %[[UNDER32:.*]] = arith.addi %[[ROW32]], %c8_i32 : i32
  // CHECK-NEXT: %[[UNDER:.*]] = arith.index_cast %[[UNDER32]] : i32 to index
  // CHECK-NEXT: arith.cmpi ule, %[[COLUMN]], %[[UNDER]] : index
  // CHECK: arith.addf %[[X2]], %{{.*}} : f32
  // CHECK: arith.cmpi ule, %[[NEXT]], %[[UNDER]] : index
  // CHECK-NOT: arith.cmpi
  // CHECK: llvm.insertvalue %[[WORD]], %{{.*}}[0]
  %0 = "smem.map"(%x) ({
  ^bb0(%v: f32, %row: index, %column: index):
    %below = arith.cmpi ule, %column, %row : index
    %r = scf.if %below -> f32 {
      %b = memref.load %bias[%column] : memref<8xf32>
      %t = arith.addf %v, %b : f32
      scf.yield %t : f32
    } else {
      scf.yield %v : f32
    }
    %half = arith.truncf %r : f32 to f16
    gpu.yield %half : f16
  }) : (!c) -> !h
  return %0 : !h
}

// The result may be independent of the element, or the element itself.
// CHECK: func.func @constants(%[[X:.*]]: !llvm.struct<{{.*}}>, %[[S:.*]]: f32)
func.func @constants(%x: !c, %s: f32) -> (!c, !c) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // CHECK-COUNT-4: llvm.insertvalue %[[S]], %{{.*}}
  // CHECK: %[[X1:.*]] = llvm.extractvalue %[[X]][1]
  // CHECK: llvm.insertvalue %[[X1]], %{{.*}}[1]
  %0 = "smem.map"(%x) ({
  ^bb0(%v: f32):
    gpu.yield %s : f32
  }) : (!c) -> !c
  %1 = "smem.map"(%x) ({
  ^bb0(%v: f32):
    gpu.yield %v : f32
  }) : (!c) -> !c
  return %0, %1 : !c, !c
}
