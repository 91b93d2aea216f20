// Upstream's op transposes A where its layout is `col`, and B where its layout is `row`: K-major is
// `row` for A and `col` for B.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<64x16xf32>, #smem.in_flight>

func.func @majors(%a: i64, %b: i64) {
  // CHECK: A[<f16>, <one>, <row>], B[<f16>, <one>, <col>]
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  // CHECK: A[<f16>, <one>, <row>], B[<f16>, <one>, <row>]
  %1 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  // CHECK: A[<f16>, <one>, <col>], B[<f16>, <one>, <col>]
  %2 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "mn", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  // CHECK: A[<f16>, <one>, <col>], B[<f16>, <one>, <row>]
  %3 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "mn", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  return
}
