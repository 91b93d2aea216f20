// RUN: smem-opt %s | smem-opt | FileCheck %s

// Each type is that of an alloc, whose verifier checks it.

// Every element type that a tile can hold.
// CHECK-LABEL: func.func @elements
func.func @elements() {
  // CHECK-NEXT: !smem.tile<tensor<64x64xf16>, #smem.auto>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xf16>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xbf16>, #smem.auto>
  %1 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xf32>, #smem.auto>
  %2 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xf32>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xtf32>, #smem.auto>
  %3 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xtf32>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
  %4 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xf8E5M2>, #smem.auto>
  %5 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xf8E5M2>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xi8>, #smem.auto>
  %6 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xi8>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xsi8>, #smem.auto>
  %7 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xsi8>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xui8>, #smem.auto>
  %8 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xui8>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x256xi1>, #smem.auto>
  %9 = "smem.alloc"() : () -> !smem.tile<tensor<64x256xi1>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x64xf4E2M1FN>, #smem.auto>
  %10 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xf4E2M1FN>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x128x!smem.padded<f4E2M1FN>>, #smem.auto>
  %11 = "smem.alloc"() : () -> !smem.tile<tensor<64x128x!smem.padded<f4E2M1FN>>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x128xf6E2M3FN>, #smem.auto>
  %12 = "smem.alloc"() : () -> !smem.tile<tensor<64x128xf6E2M3FN>, #smem.auto>
  // CHECK-NEXT: !smem.tile<tensor<64x128xf6E3M2FN>, #smem.auto>
  %13 = "smem.alloc"() : () -> !smem.tile<tensor<64x128xf6E3M2FN>, #smem.auto>
  return
}

// Every width and order of #smem.swizzle; with stages; padded, since 40 columns are not a multiple of
// the atom's 64.
// CHECK-LABEL: func.func @swizzles
func.func @swizzles() {
  // CHECK-NEXT: !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
  // CHECK-NEXT: !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"32B", "column-major">>
  %1 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"32B", "column-major">>
  // CHECK-NEXT: !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"64B", "row-major">>
  %2 = "smem.alloc"() : () -> !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"64B", "row-major">>
  // CHECK-NEXT: !smem.tile<tensor<64x40xbf16>, #smem.swizzle<"128B", "row-major">>
  %3 = "smem.alloc"() : () -> !smem.tile<tensor<64x40xbf16>, #smem.swizzle<"128B", "row-major">>
  return
}

// CuTe notation is kept as written: without a swizzle, with the short name and with the
// underscores of static integers, nested, with stages.
// CHECK-LABEL: func.func @layouts
func.func @layouts() {
  // CHECK-NEXT: #smem.layout<"(64,64):(64,1)">
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(64,1)">>
  // CHECK-NEXT: #smem.layout<"Sw<3,4,3> o ((_8,_8),_64):((_64,_512),_1)">
  %1 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.layout<"Sw<3,4,3> o ((_8,_8),_64):((_64,_512),_1)">>
  // CHECK-NEXT: #smem.layout<"Swizzle<2,4,3> o (2,64,(32,2)):(4096,32,(1,2048))">
  %2 = "smem.alloc"() : () -> !smem.tile<tensor<2x64x64xbf16>, #smem.layout<"Swizzle<2,4,3> o (2,64,(32,2)):(4096,32,(1,2048))">>
  return
}
