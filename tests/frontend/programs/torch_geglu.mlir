// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<128x64xbf16>, %arg2: tensor<128x64xbf16>) -> tensor<96x128xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : bf16
    %cst_1 = arith.constant 2.000000e+00 : bf16
    %cst_2 = arith.constant 5.000000e-01 : bf16
    %0 = tensor.empty() : tensor<64x128xbf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<128x64xbf16>) outs(%0 : tensor<64x128xbf16>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<96x128xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %3 = linalg.matmul ins(%arg0, %transposed : tensor<96x64xbf16>, tensor<64x128xbf16>) outs(%2 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %4 = tensor.empty() : tensor<96x128xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<96x128xf32>) outs(%4 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %10 = arith.truncf %in : f32 to bf16
      linalg.yield %10 : bf16
    } -> tensor<96x128xbf16>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%5 : tensor<96x128xbf16>) outs(%4 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %10 = math.sqrt %cst_1 : bf16
      %11 = arith.divf %in, %10 : bf16
      %12 = math.erf %11 : bf16
      %13 = arith.addf %12, %cst_0 : bf16
      %14 = arith.mulf %13, %cst_2 : bf16
      %15 = arith.mulf %in, %14 : bf16
      linalg.yield %15 : bf16
    } -> tensor<96x128xbf16>
    %transposed_3 = linalg.transpose ins(%arg2 : tensor<128x64xbf16>) outs(%0 : tensor<64x128xbf16>) permutation = [1, 0]
    %7 = linalg.matmul ins(%arg0, %transposed_3 : tensor<96x64xbf16>, tensor<64x128xbf16>) outs(%2 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<96x128xf32>) outs(%4 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %10 = arith.truncf %in : f32 to bf16
      linalg.yield %10 : bf16
    } -> tensor<96x128xbf16>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%6, %8 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%4 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %10 = arith.mulf %in, %in_4 : bf16
      linalg.yield %10 : bf16
    } -> tensor<96x128xbf16>
    return %9 : tensor<96x128xbf16>
  }
}
