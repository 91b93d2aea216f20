// Functions that take or return a fragment, and calls of them.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

// CHECK: func.func private @declared(!llvm.struct<(f32, f32, f32, f32)>, index)
func.func private @declared(!c, index)

// CHECK: func.func @defined(%[[C:.*]]: !llvm.struct<(f32, f32, f32, f32)>, %[[N:.*]]: index) -> !llvm.struct<(f32, f32, f32, f32)>
func.func @defined(%c: !c, %n: index) -> !c {
  // CHECK: call @declared(%[[C]], %[[N]]) : (!llvm.struct<(f32, f32, f32, f32)>, index) -> ()
  func.call @declared(%c, %n) : (!c, index) -> ()
  // CHECK: %[[D:.*]] = call @defined(%[[C]], %[[N]]) : (!llvm.struct<(f32, f32, f32, f32)>, index) -> !llvm.struct<(f32, f32, f32, f32)>
  %d = func.call @defined(%c, %n) : (!c, index) -> !c
  // CHECK: return %[[D]] : !llvm.struct<(f32, f32, f32, f32)>
  return %d : !c
}
