// RUN: smem-opt %s | smem-opt | FileCheck %s

!done = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

func.func @store(%d: !done, %f32: memref<64x64xf32>, %bf16: memref<64x64xbf16, strided<[?, 1], offset: ?>>, %f16: memref<64x64xf16, strided<[1, 64]>, 1>, %rows: memref<?x64xf32>, %stack: memref<4x16x64xf32>, %some: memref<4x?x64xf32, strided<[64, ?, 1]>>) {
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, memref<64x64xf32>) -> ()
  "smem.store"(%d, %f32) : (!done, memref<64x64xf32>) -> ()
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<{{.*}}>, memref<64x64xbf16, strided<[?, 1], offset: ?>>) -> ()
  "smem.store"(%d, %bf16) : (!done, memref<64x64xbf16, strided<[?, 1], offset: ?>>) -> ()
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<{{.*}}>, memref<64x64xf16, strided<[1, 64]>, 1>) -> ()
  "smem.store"(%d, %f16) : (!done, memref<64x64xf16, strided<[1, 64]>, 1>) -> ()
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<{{.*}}>, memref<?x64xf32>) -> ()
  "smem.store"(%d, %rows) : (!done, memref<?x64xf32>) -> ()
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<{{.*}}>, memref<4x16x64xf32>) -> ()
  "smem.store"(%d, %stack) : (!done, memref<4x16x64xf32>) -> ()
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<{{.*}}>, memref<4x?x64xf32, strided<[64, ?, 1]>>) -> ()
  "smem.store"(%d, %some) : (!done, memref<4x?x64xf32, strided<[64, ?, 1]>>) -> ()
  return
}

// To a tile.
func.func @to_tile(%d: !done, %t: !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>) {
  // CHECK: "smem.store"(%{{.*}}, %{{.*}}) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>) -> ()
  "smem.store"(%d, %t) : (!done, !smem.tile<tensor<64x64xf8E4M3FN>, #smem.auto>) -> ()
  return
}
