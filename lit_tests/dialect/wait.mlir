// RUN: smem-opt %s | smem-opt | FileCheck %s

!running = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!done = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @readable
func.func @readable(%d: !running) {
  // CHECK: "smem.wait"(%{{.*}}) {pending = 0 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  %0 = "smem.wait"(%d) {pending = 0 : i32} : (!running) -> !done
  return
}

// CHECK-LABEL: func.func @still_in_flight
func.func @still_in_flight(%d: !running) {
  // CHECK: "smem.wait"(%{{.*}}) {pending = 2 : i32} : (!smem.fragment<tensor<64x64xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  %0 = "smem.wait"(%d) {pending = 2 : i32} : (!running) -> !running
  return
}

!tile = !smem.tile<tensor<64x64xbf16>, #smem.auto>

// The later mma can be unfinished, the earlier one is complete.
// CHECK-LABEL: func.func @later_mma_pending
func.func @later_mma_pending(%t: !tile) {
  %0 = "smem.mma"(%t, %t) : (!tile, !tile) -> !running
  %1 = "smem.mma"(%t, %t) : (!tile, !tile) -> !running
  // CHECK: "smem.wait"(%{{.*}}) {pending = 1 : i32} : {{.*}} -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  %2 = "smem.wait"(%0) {pending = 1 : i32} : (!running) -> !done
  return
}
