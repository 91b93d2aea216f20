// A function that takes or returns a fragment takes or returns its registers.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

// CHECK: func.func @argument(%{{.*}}: !llvm.struct<(f32, f32, f32, f32)>) -> !llvm.struct<(f32, f32, f32, f32)>
func.func @argument(%c: !c) -> !c {
  return %c : !c
}
