// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<96x64xi8>, %arg1: tensor<64x128xi8>, %arg2: tensor<128xf32>) -> tensor<96x128xbf16> {
    %c0_i32 = arith.constant 0 : i32
    %0 = tensor.empty() : tensor<96x128xi32>
    %1 = linalg.fill ins(%c0_i32 : i32) outs(%0 : tensor<96x128xi32>) -> tensor<96x128xi32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xi8>, tensor<64x128xi8>) outs(%1 : tensor<96x128xi32>) -> tensor<96x128xi32>
    %3 = tensor.empty() : tensor<96x128xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<96x128xi32>) outs(%3 : tensor<96x128xf32>) {
    ^bb0(%in: i32, %out: f32):
      %8 = arith.sitofp %in : i32 to f32
      linalg.yield %8 : f32
    } -> tensor<96x128xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %arg2 : tensor<96x128xf32>, tensor<128xf32>) outs(%3 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %8 = arith.mulf %in, %in_0 : f32
      linalg.yield %8 : f32
    } -> tensor<96x128xf32>
    %6 = tensor.empty() : tensor<96x128xbf16>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<96x128xf32>) outs(%6 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %8 = arith.truncf %in : f32 to bf16
      linalg.yield %8 : bf16
    } -> tensor<96x128xbf16>
    return %7 : tensor<96x128xbf16>
  }
}
