// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK-LABEL: func.func private @fragments
func.func private @fragments(
  // CHECK-SAME: !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
  !smem.fragment<tensor<64x8xf32>, #smem.accumulator>,
  // CHECK-SAME: !smem.fragment<tensor<192x512xf32>, #smem.in_flight>
  !smem.fragment<tensor<192x512xf32>, #smem.in_flight>,
  // CHECK-SAME: !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>
  !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>,
  // CHECK-SAME: !smem.fragment<tensor<64x64xui8>, #smem.metadata>
  !smem.fragment<tensor<64x64xui8>, #smem.metadata>)
