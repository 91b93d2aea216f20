// RUN: smem-opt %s --linalg-to-smem-prepare --linalg-to-smem | FileCheck %s

// The fill before a product of memrefs is not needed. Where extents are not known, both versions are there.
// CHECK-LABEL: func.func @cleared
// CHECK-NOT: linalg
// CHECK: gpu.launch_func @cleared_gemm_0::@gemm
// CHECK-LABEL: func.func @dynamic
// CHECK: remui
// CHECK: scf.if
// CHECK: gpu.launch_func @dynamic_gemm_0::@gemm
// CHECK: else
// CHECK: linalg.generic
// A write between the fill and the product: the kernel adds to what is there.
// CHECK-LABEL: func.func @written
// CHECK: linalg.generic
// CHECK: memref.store
// CHECK: gpu.launch_func @written_gemm_0::@gemm
func.func @cleared(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>) outs(%c : memref<64x64xf32>)
  return
}
func.func @dynamic(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xbf16>, memref<?x?xbf16>) outs(%c : memref<?x?xf32>)
  return
}
func.func @written(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  memref.store %one, %c[%c0, %c0] : memref<64x64xf32>
  linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>) outs(%c : memref<64x64xf32>)
  return
}
