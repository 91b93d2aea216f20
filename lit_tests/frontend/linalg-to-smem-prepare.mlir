// A transposed matrix is read by both products as it is, though upstream fuses only what has one use; and the
// configuration and the precision of a product outlive the fusion.

// RUN: smem-opt %s --linalg-to-smem-prepare | FileCheck %s

// CHECK-DAG: #[[$MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @shared
// CHECK-NOT: linalg.transpose
// CHECK: linalg.generic {indexing_maps = [#[[$MK]], #[[$NK]], {{.*}}ins(%arg0, %arg1
// CHECK-SAME: attrs = {smem.config = {tile = [128, 64, 64]}}
// CHECK: linalg.generic {indexing_maps = [#[[$MK]], #[[$NK]], {{.*}}ins(%arg2, %arg1
func.func @shared(%a: tensor<128x64xbf16>, %b: tensor<32x64xbf16>, %x: tensor<128x64xbf16>) -> (tensor<128x32xf32>, tensor<128x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x32xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x32xf32>) -> tensor<128x32xf32>
  %e = tensor.empty() : tensor<64x32xbf16>
  %t = linalg.transpose ins(%b : tensor<32x64xbf16>) outs(%e : tensor<64x32xbf16>) permutation = [1, 0]
  %p = linalg.matmul {smem.config = {tile = [128, 64, 64]}} ins(%a, %t : tensor<128x64xbf16>, tensor<64x32xbf16>) outs(%begin : tensor<128x32xf32>) -> tensor<128x32xf32>
  %q = linalg.matmul ins(%x, %t : tensor<128x64xbf16>, tensor<64x32xbf16>) outs(%begin : tensor<128x32xf32>) -> tensor<128x32xf32>
  return %p, %q : tensor<128x32xf32>, tensor<128x32xf32>
}
// CHECK-LABEL: func.func @precision
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK-SAME: attrs = {smem.precision = "highest"}
func.func @precision(%a: tensor<1x8x8xf32>, %b: tensor<1x8x8xf32>, %c: tensor<1x8x8xf32>) -> tensor<1x8x8xf32> {
  %p = linalg.batch_matmul {smem.precision = "highest"} ins(%a, %b : tensor<1x8x8xf32>, tensor<1x8x8xf32>) outs(%c : tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  %q = linalg.exp ins(%p : tensor<1x8x8xf32>) outs(%c : tensor<1x8x8xf32>) -> tensor<1x8x8xf32>
  return %q : tensor<1x8x8xf32>
}
