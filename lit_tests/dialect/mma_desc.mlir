// RUN: smem-opt %s | smem-opt | FileCheck %s

!running = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>

func.func @wgmma(%a: i64, %b: i64) {
  // CHECK: %[[D:.*]] = "smem.mma_desc"(%{{.*}}, %{{.*}}) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128>} : (i64, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64) -> !running
  // CHECK: "smem.mma_desc"(%{{.*}}, %{{.*}}, %[[D]]) {{.*}} : (i64, i64, !smem.fragment<tensor<64x8xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %1 = "smem.mma_desc"(%a, %b, %0) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64, !running) -> !running
  return
}

// An operand has several descriptors if the distance between its MMA tiles is known at run time only.
func.func @several_descriptors(%a: vector<2xi64>, %b: i64) {
  // CHECK: "smem.mma_desc"(%{{.*}}, %{{.*}}) {a_bases = array<i64: 0, 1>, a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 0>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128>} : (vector<2xi64>, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 0>, a_bases = array<i64: 0, 1>, b_steps = array<i64: 0, 128>} : (vector<2xi64>, i64) -> !running
  return
}

// A in registers has no steps.
func.func @registers(%a: !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>, %b: i64) {
  // CHECK: "smem.mma_desc"(%{{.*}}, %{{.*}}) {a_element = "bf16", a_major = "k", a_steps = array<i64>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128>} : (!smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64>, b_steps = array<i64: 0, 128>} : (!smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>, i64) -> !running
  return
}

// Each K block is 32 elements of the sparse A.
func.func @sparse(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x64xbf16>, #smem.metadata>, %d: !running) {
  // CHECK: "smem.mma_desc_sp"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 256>} : (i64, i64, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>, !smem.fragment<tensor<64x8xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.mma_desc_sp"(%a, %b, %e, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 256>} : (i64, i64, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>, !running) -> !running
  return
}
