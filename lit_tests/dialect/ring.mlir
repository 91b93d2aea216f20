// A ring, and what producers and consumers do with the stage of a step.

// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK-LABEL: func.func @ring
func.func @ring(%step: index) {
  // CHECK: %[[R:.*]] = "smem.ring"() {consumers = 2 : i32, producers = 1 : i32, stages = 4 : i32} : () -> !smem.barriers
  %r = "smem.ring"() {stages = 4 : i32, producers = 1 : i32, consumers = 2 : i32} : () -> !smem.barriers
  // CHECK-NEXT: "smem.producer_acquire"(%[[R]], %[[STEP:.*]]) : (!smem.barriers, index) -> index
  %0 = "smem.producer_acquire"(%r, %step) : (!smem.barriers, index) -> index
  // CHECK-NEXT: "smem.producer_commit"(%[[R]], %[[STEP]]) : (!smem.barriers, index) -> ()
  "smem.producer_commit"(%r, %step) : (!smem.barriers, index) -> ()
  // CHECK-NEXT: "smem.consumer_wait"(%[[R]], %[[STEP]]) : (!smem.barriers, index) -> index
  %1 = "smem.consumer_wait"(%r, %step) : (!smem.barriers, index) -> index
  // CHECK-NEXT: "smem.consumer_release"(%[[R]], %[[STEP]]) : (!smem.barriers, index) -> ()
  "smem.consumer_release"(%r, %step) : (!smem.barriers, index) -> ()
  return
}

// The form after smem-allocate.
// CHECK-LABEL: func.func @placed
func.func @placed() {
  // CHECK: "smem.ring"() {consumers = 1 : i32, offset = 8192 : i64, producers = 128 : i32, stages = 1 : i32}
  %r = "smem.ring"() {stages = 1 : i32, producers = 128 : i32, consumers = 1 : i32, offset = 8192 : i64} : () -> !smem.barriers
  return
}
