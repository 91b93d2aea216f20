// A pipeline, and the ops of its producers and consumers.

// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK-LABEL: func.func @pipeline
func.func @pipeline(%step: index) {
  // CHECK: %[[R:.*]] = "smem.create_pipeline"() {consumers = 2 : i32, producers = 1 : i32, stages = 4 : i32} : () -> !smem.pipeline
  %r = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 2 : i32} : () -> !smem.pipeline
  // CHECK-NEXT: "smem.producer_acquire"(%[[R]], %[[STEP:.*]]) : (!smem.pipeline, index) -> index
  %0 = "smem.producer_acquire"(%r, %step) : (!smem.pipeline, index) -> index
  // CHECK-NEXT: "smem.producer_commit"(%[[R]], %[[STEP]]) : (!smem.pipeline, index) -> ()
  "smem.producer_commit"(%r, %step) : (!smem.pipeline, index) -> ()
  // CHECK-NEXT: "smem.consumer_wait"(%[[R]], %[[STEP]]) : (!smem.pipeline, index) -> index
  %1 = "smem.consumer_wait"(%r, %step) : (!smem.pipeline, index) -> index
  // CHECK-NEXT: "smem.consumer_release"(%[[R]], %[[STEP]]) : (!smem.pipeline, index) -> ()
  "smem.consumer_release"(%r, %step) : (!smem.pipeline, index) -> ()
  return
}

// The form after smem-allocate.
// CHECK-LABEL: func.func @placed
func.func @placed() {
  // CHECK: "smem.create_pipeline"() {consumers = 1 : i32, offset = 8192 : i64, producers = 128 : i32, stages = 1 : i32}
  %r = "smem.create_pipeline"() {stages = 1 : i32, producers = 128 : i32, consumers = 1 : i32, offset = 8192 : i64} : () -> !smem.pipeline
  return
}
