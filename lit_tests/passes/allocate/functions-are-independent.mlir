// RUN: smem-opt %s --smem-allocate | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>

// CHECK: func.func @one() attributes {smem.shared_bytes = 8192 : i32}
func.func @one() {
  // CHECK-NEXT: "smem.alloc"() {offset = 0 : i64}
  %0 = "smem.alloc"() : () -> !t
  return
}

// CHECK: func.func @two() attributes {smem.shared_bytes = 16384 : i32}
func.func @two() {
  // CHECK-NEXT: "smem.alloc"() {offset = 0 : i64}
  %0 = "smem.alloc"() : () -> !t
  // CHECK-NEXT: "smem.alloc"() {offset = 8192 : i64}
  %1 = "smem.alloc"() : () -> !t
  return
}

// CHECK: func.func @none() {
func.func @none() {
  return
}
