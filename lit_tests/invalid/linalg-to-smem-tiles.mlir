// What is no product of tiles.

// RUN: smem-opt %s --linalg-to-smem-tiles --split-input-file --verify-diagnostics

func.func @two_warpgroups(%a: memref<64x64xbf16>, %c: memref<64x64xf32>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  // expected-error@+1 {{'linalg.matmul' op is in a kernel of 256 threads; expected 128, a warpgroup}}
  linalg.matmul ins(%a, %a : memref<64x64xbf16>, memref<64x64xbf16>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @not_tiled(%a: memref<64x?xbf16>, %b: memref<?x64xbf16>, %c: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'linalg.matmul' op takes memref<64x?xbf16>; expected a memref whose extents are known}}
  linalg.matmul ins(%a, %b : memref<64x?xbf16>, memref<?x64xbf16>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @tensors(%a: tensor<64x64xbf16>, %c: tensor<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'linalg.matmul' op takes tensor<64x64xbf16>; expected a memref whose extents are known}}
  %d = linalg.matmul ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return
}

// -----

func.func @elements(%a: memref<64x64xf32>, %c: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'linalg.matmul' op adds f32 * f32 to f32; expected bf16 or f16, added to f32 or the same}}
  linalg.matmul ins(%a, %a : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @broadcast(%a: memref<64x64xbf16>, %b: memref<64xbf16>, %c: memref<64x64xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'linalg.matmul' op has [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>]; expected those of a product, of transposes or not}}
  linalg.matmul indexing_maps = [#a, #b, #c] ins(%a, %b : memref<64x64xbf16>, memref<64xbf16>) outs(%c : memref<64x64xf32>)
  return
}

// -----

func.func @in_place(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'linalg.matmul' op adds to the array that it reads; expected another one}}
  linalg.matmul ins(%a, %b : memref<64x64xbf16>, memref<64x64xbf16>) outs(%a : memref<64x64xbf16>)
  return
}
