// RUN: smem-opt %s | smem-opt | FileCheck %s

!running = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>

func.func @wgmma(%a: i64, %b: i64) {
  // CHECK: %[[D:.*]] = "smem.wgmma"(%{{.*}}, %{{.*}}) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128>} : (i64, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.wgmma"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64) -> !running
  // CHECK: "smem.wgmma"(%{{.*}}, %{{.*}}, %[[D]]) {{.*}} : (i64, i64, !smem.fragment<tensor<64x8xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %1 = "smem.wgmma"(%a, %b, %0) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64, !running) -> !running
  return
}

// An operand whose blocks are apart by what only the running kernel knows has several descriptors.
func.func @several_descriptors(%a: vector<2xi64>, %b: i64) {
  // CHECK: "smem.wgmma"(%{{.*}}, %{{.*}}) {a_bases = array<i64: 0, 1>, a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 0>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128>} : (vector<2xi64>, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.wgmma"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 0>, a_bases = array<i64: 0, 1>, b_steps = array<i64: 0, 128>} : (vector<2xi64>, i64) -> !running
  return
}

// A in registers has no steps.
func.func @registers(%a: !smem.fragment<tensor<64x32xbf16>, #smem.multiplicand>, %b: i64) {
  // CHECK: "smem.wgmma"(%{{.*}}, %{{.*}}) {a_element = "bf16", a_major = "k", a_steps = array<i64>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 128>} : (!smem.fragment<tensor<64x32xbf16>, #smem.multiplicand>, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.wgmma"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64>, b_steps = array<i64: 0, 128>} : (!smem.fragment<tensor<64x32xbf16>, #smem.multiplicand>, i64) -> !running
  return
}

// Each step along k is 32 elements of the sparse A.
func.func @sparse(%a: i64, %b: i64, %e: !smem.fragment<tensor<64x64xbf16>, #smem.metadata>, %d: !running) {
  // CHECK: "smem.wgmma_sp"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {a_element = "bf16", a_major = "k", a_steps = array<i64: 0, 2>, b_element = "bf16", b_major = "mn", b_steps = array<i64: 0, 256>} : (i64, i64, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>, !smem.fragment<tensor<64x8xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  %0 = "smem.wgmma_sp"(%a, %b, %e, %d) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 256>} : (i64, i64, !smem.fragment<tensor<64x64xbf16>, #smem.metadata>, !running) -> !running
  return
}
