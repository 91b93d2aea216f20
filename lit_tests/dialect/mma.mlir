// RUN: smem-opt %s | smem-opt | FileCheck %s

!a = !smem.tile<tensor<128x64xf16>, #smem.auto>
!b = !smem.tile<tensor<64x96xf16>, #smem.auto>
!running = !smem.fragment<tensor<128x96xf32>, #smem.in_flight>
!done = !smem.fragment<tensor<128x96xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @product
func.func @product(%a: !a, %b: !b) {
  // CHECK: "smem.mma"(%{{.*}}, %{{.*}}) : (!smem.tile<tensor<128x64xf16>, #smem.auto>, !smem.tile<tensor<64x96xf16>, #smem.auto>) -> !smem.fragment<tensor<128x96xf32>, #smem.in_flight>
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !running
  return
}

// CHECK-LABEL: func.func @accumulate
func.func @accumulate(%a: !a, %b: !b, %c: !done) {
  // CHECK: %[[D:.*]] = "smem.mma"(%{{.*}}, %{{.*}}, %{{.*}}) : (!smem.tile<tensor<128x64xf16>, #smem.auto>, !smem.tile<tensor<64x96xf16>, #smem.auto>, !smem.fragment<tensor<128x96xf32>, #smem.accumulator>) -> !smem.fragment<tensor<128x96xf32>, #smem.in_flight>
  %0 = "smem.mma"(%a, %b, %c) : (!a, !b, !done) -> !running
  // CHECK: "smem.mma"(%{{.*}}, %{{.*}}, %[[D]]) : {{.*}}, !smem.fragment<tensor<128x96xf32>, #smem.in_flight>) -> !smem.fragment<tensor<128x96xf32>, #smem.in_flight>
  %1 = "smem.mma"(%a, %b, %0) : (!a, !b, !running) -> !running
  return
}

// A in registers.
// CHECK-LABEL: func.func @registers
func.func @registers(%a: !smem.fragment<tensor<128x64xf16>, #smem.a_fragment>, %b: !b) {
  // CHECK: "smem.mma"(%{{.*}}, %{{.*}}) : (!smem.fragment<tensor<128x64xf16>, #smem.a_fragment>, !smem.tile<tensor<64x96xf16>, #smem.auto>) -> !smem.fragment<tensor<128x96xf32>, #smem.in_flight>
  %0 = "smem.mma"(%a, %b) : (!smem.fragment<tensor<128x64xf16>, #smem.a_fragment>, !b) -> !running
  return
}

// A CTA pair has 192 columns together; A in shared memory and in registers.
// CHECK-LABEL: func.func @pair
func.func @pair(%a: !a, %words: !smem.fragment<tensor<128x64xf16>, #smem.a_fragment>, %b: !b) {
  // CHECK: %[[D:.*]] = "smem.mma"(%{{.*}}, %{{.*}}) {pair} : {{.*}} -> !smem.fragment<tensor<128x192xf32>, #smem.in_flight>
  %0 = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !smem.fragment<tensor<128x192xf32>, #smem.in_flight>
  // CHECK: "smem.mma"(%{{.*}}, %{{.*}}, %[[D]]) {negate_a, pair}
  %1 = "smem.mma"(%words, %b, %0) {pair, negate_a} : (!smem.fragment<tensor<128x64xf16>, #smem.a_fragment>, !b, !smem.fragment<tensor<128x192xf32>, #smem.in_flight>) -> !smem.fragment<tensor<128x192xf32>, #smem.in_flight>
  return
}
