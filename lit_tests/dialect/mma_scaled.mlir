// RUN: smem-opt %s | smem-opt | FileCheck %s

!a = !smem.tile<tensor<256x128xf8E4M3FN>, #smem.auto>
!b = !smem.tile<tensor<128x96xf6E2M3FN>, #smem.auto>
!sa = !smem.tile<tensor<256x4xf8E8M0FNU>, #smem.auto>
!sb = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!running = !smem.fragment<tensor<256x96xf32>, #smem.in_flight>
!done = !smem.fragment<tensor<256x96xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @product
func.func @product(%a: !a, %b: !b, %sa: !sa, %sb: !sb, %c: !done) {
  // CHECK: "smem.mma_scaled"(%arg0, %arg1, %arg2, %arg3) : (!smem.tile<tensor<256x128xf8E4M3FN>, #smem.auto>, !smem.tile<tensor<128x96xf6E2M3FN>, #smem.auto>, !smem.tile<tensor<256x4xf8E8M0FNU>, #smem.auto>, !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>) -> !smem.fragment<tensor<256x96xf32>, #smem.in_flight>
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !sa, !sb) -> !running
  // CHECK: %[[D:.*]] = "smem.mma_scaled"(%arg0, %arg1, %arg2, %arg3, %arg4) {negate_a, negate_b} : {{.*}}, !smem.fragment<tensor<256x96xf32>, #smem.accumulator>) -> !smem.fragment<tensor<256x96xf32>, #smem.in_flight>
  %1 = "smem.mma_scaled"(%a, %b, %sa, %sb, %c) {negate_a, negate_b} : (!a, !b, !sa, !sb, !done) -> !running
  // CHECK: "smem.mma_scaled"(%arg0, %arg1, %arg2, %arg3, %[[D]]) : {{.*}}, !smem.fragment<tensor<256x96xf32>, #smem.in_flight>) -> !smem.fragment<tensor<256x96xf32>, #smem.in_flight>
  %2 = "smem.mma_scaled"(%a, %b, %sa, %sb, %1) : (!a, !b, !sa, !sb, !running) -> !running
  return
}

!packed_a = !smem.tile<tensor<128x128xf4E2M1FN>, #smem.swizzle<"64B", "row-major">>
!packed_b = !smem.tile<tensor<128x80xf4E2M1FN>, #smem.swizzle<"64B", "column-major">>
!packed_sa = !smem.tile<tensor<128x8xf8E4M3FN>, #smem.auto>
!packed_sb = !smem.tile<tensor<256x8xf8E4M3FN>, #smem.auto>

// A CTA pair has 160 columns together; each CTA has the factors of all of them.
// CHECK-LABEL: func.func @pair
func.func @pair(%a: !packed_a, %b: !packed_b, %sa: !packed_sa, %sb: !packed_sb) {
  // CHECK: "smem.mma_scaled"(%{{.*}}) {pair} : {{.*}} -> !smem.fragment<tensor<128x160xf32>, #smem.in_flight>
  %0 = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!packed_a, !packed_b, !packed_sa, !packed_sb) -> !smem.fragment<tensor<128x160xf32>, #smem.in_flight>
  return
}
