// RUN: smem-opt %s | smem-opt | FileCheck %s

func.func @fill(%v: f32) {
  // CHECK: "smem.fill"(%{{.*}}) : (f32) -> !smem.fragment<tensor<64x256xf32>, #smem.accumulator>
  %0 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64x256xf32>, #smem.accumulator>
  // A loop carries an accumulator in flight from its first iteration on.
  // CHECK: "smem.fill"(%{{.*}}) : (f32) -> !smem.fragment<tensor<64x256xf32>, #smem.in_flight>
  %1 = "smem.fill"(%v) : (f32) -> !smem.fragment<tensor<64x256xf32>, #smem.in_flight>
  return
}
