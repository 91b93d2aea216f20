// RUN: smem-opt %s | smem-opt | FileCheck %s

!running = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>

// CHECK-LABEL: func.func @product
func.func @product(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // CHECK: %[[D:.*]] = "smem.mma_desc_scaled"(%arg0, %arg1, %arg2, %arg3) {a_element = "e4m3", a_major = "k", a_scale_steps = array<i64: 0>, a_steps = array<i64: 0, 2, 4, 6>, b_element = "e5m2", b_major = "mn", b_scale_steps = array<i64: 0>, b_steps = array<i64: 0, 128, 256, 384>, block = 32 : i64, scale = "ue8m0"} : (i64, i64, i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e5m2", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 128, 256, 384>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !running
  // CHECK: "smem.mma_desc_scaled"(%arg0, %arg1, %arg2, %arg3, %[[D]]) {{.*}}negate_b, pair{{.*}} -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  %1 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb, %0) {pair, negate_b, a_element = "e4m3", b_element = "e5m2", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 128, 256, 384>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64, !running) -> !running
  return
}

// The distance between MMA tiles of A is known at run time only.
// CHECK-LABEL: func.func @several_descriptors
func.func @several_descriptors(%a: vector<2xi64>, %b: i64, %sa: i64, %sb: i64) {
  // CHECK: "smem.mma_desc_scaled"(%{{.*}}) {a_bases = array<i64: 0, 0, 1, 1>, {{.*}} : (vector<2xi64>, i64, i64, i64)
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e4m3", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 0, 2>, a_bases = array<i64: 0, 0, 1, 1>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (vector<2xi64>, i64, i64, i64) -> !running
  return
}

// 48 bytes along K: K = 192 is two instructions; the second has no second chunk.
// CHECK-LABEL: func.func @long
func.func @long(%a: i64, %b: i64, %sa: i64, %sb: i64) {
  // CHECK: "smem.mma_desc_scaled"(%{{.*}}) {{.*}}a_second_chunks = array<i64: -1, -1>, {{.*}}b_second_chunks = array<i64: -1, 64>
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 3>, a_second_chunks = array<i64: -1, -1>, b_steps = array<i64: 0, 3>, b_second_chunks = array<i64: -1, 64>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64>, b_scale_steps = array<i64: 0, 32, 64>} : (i64, i64, i64, i64) -> !running
  return
}
