// An element-wise function: its region has an argument for each input, and optionally the row and column.

// RUN: smem-opt %s | smem-opt | FileCheck %s

!f32 = !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
!f16 = !smem.fragment<tensor<64x16xf16>, #smem.accumulator>

// CHECK: func.func @map(%[[X:.*]]: !smem.fragment<tensor<64x16xf32>, #smem.accumulator>, %[[Y:.*]]: !smem.fragment<tensor<64x16xf32>, #smem.accumulator>, %[[SCALE:.*]]: f32, %[[BIAS:.*]]: memref<16xf32>)
func.func @map(%x: !f32, %y: !f32, %scale: f32, %bias: memref<16xf32>) {
  // CHECK: "smem.map"(%[[X]]) ({
  // CHECK-NEXT: ^bb0(%[[V:.*]]: f32):
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[V]], %[[SCALE]] : f32
  // CHECK-NEXT: gpu.yield %[[SCALED]] : f32
  // CHECK-NEXT: }) : (!smem.fragment<tensor<64x16xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x16xf32>, #smem.accumulator>
  %0 = "smem.map"(%x) ({
  ^bb0(%v: f32):
    %scaled = arith.mulf %v, %scale : f32
    gpu.yield %scaled : f32
  }) : (!f32) -> !f32
  // Two inputs, the row and column of the element, and a result of another type.
  // CHECK: "smem.map"(%[[X]], %[[Y]]) ({
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: index, %[[COLUMN:.*]]: index):
  // CHECK: memref.load %[[BIAS]][%[[COLUMN]]]
  // CHECK: gpu.yield %{{.*}} : f16
  // CHECK-NEXT: }) : (!smem.fragment<tensor<64x16xf32>, #smem.accumulator>, !smem.fragment<tensor<64x16xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x16xf16>, #smem.accumulator>
  %1 = "smem.map"(%x, %y) ({
  ^bb0(%v: f32, %w: f32, %row: index, %column: index):
    %b = memref.load %bias[%column] : memref<16xf32>
    %sum = arith.addf %v, %b : f32
    %all = arith.addf %sum, %w : f32
    %half = arith.truncf %all : f32 to f16
    gpu.yield %half : f16
  }) : (!f32, !f32) -> !f16
  return
}
