// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<() -> ()>
module {
  func.func @main(%arg0: tensor<8x64xbf16>, %arg1: tensor<64x64xbf16>, %arg2: tensor<8x64xbf16>) -> (tensor<bf16>, tensor<8x64xbf16>) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x8xbf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<8x64xbf16>) outs(%0 : tensor<64x8xbf16>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<8x64xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %3 = linalg.matmul ins(%arg0, %arg1 : tensor<8x64xbf16>, tensor<64x64xbf16>) outs(%2 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %4 = tensor.empty() : tensor<8x64xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<8x64xf32>) outs(%4 : tensor<8x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %13 = arith.truncf %in : f32 to bf16
      linalg.yield %13 : bf16
    } -> tensor<8x64xbf16>
    %transposed_0 = linalg.transpose ins(%5 : tensor<8x64xbf16>) outs(%0 : tensor<64x8xbf16>) permutation = [1, 0]
    %6 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%transposed, %transposed_0 : tensor<64x8xbf16>, tensor<64x8xbf16>) outs(%0 : tensor<64x8xbf16>) {
    ^bb0(%in: bf16, %in_2: bf16, %out: bf16):
      %13 = arith.addf %in, %in_2 : bf16
      linalg.yield %13 : bf16
    } -> tensor<64x8xbf16>
    %transposed_1 = linalg.transpose ins(%6 : tensor<64x8xbf16>) outs(%4 : tensor<8x64xbf16>) permutation = [1, 0]
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%transposed_1 : tensor<8x64xbf16>) outs(%1 : tensor<8x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %13 = arith.extf %in : bf16 to f32
      linalg.yield %13 : f32
    } -> tensor<8x64xf32>
    %8 = tensor.empty() : tensor<f32>
    %9 = linalg.fill ins(%cst : f32) outs(%8 : tensor<f32>) -> tensor<f32>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "reduction"]} ins(%7 : tensor<8x64xf32>) outs(%9 : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %13 = arith.addf %in, %out : f32
      linalg.yield %13 : f32
    } -> tensor<f32>
    %11 = tensor.empty() : tensor<bf16>
    %12 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = []} ins(%10 : tensor<f32>) outs(%11 : tensor<bf16>) {
    ^bb0(%in: f32, %out: bf16):
      %13 = arith.truncf %in : f32 to bf16
      linalg.yield %13 : bf16
    } -> tensor<bf16>
    return %12, %transposed_1 : tensor<bf16>, tensor<8x64xbf16>
  }
}
