// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK-LABEL: func.func @auto
func.func @auto() {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<128x64xbf16>, #smem.auto>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<128x64xbf16>, #smem.auto>
  return
}

// CHECK-LABEL: func.func @given_layout
func.func @given_layout() {
  // CHECK: "smem.alloc"() : () -> !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"64B", "row-major">>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"64B", "row-major">>
  return
}

// The form after smem-allocate.
// CHECK-LABEL: func.func @placed
func.func @placed() {
  // CHECK: "smem.alloc"() {offset = 16384 : i64} : () -> !smem.tile<tensor<128x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (128,64):(64,1)">>
  %0 = "smem.alloc"() {offset = 16384 : i64} : () -> !smem.tile<tensor<128x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (128,64):(64,1)">>
  return
}
