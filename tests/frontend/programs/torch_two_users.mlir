// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<64x128xbf16>) -> (tensor<96x128xbf16>, tensor<96x128xbf16>) {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0.000000e+00 : bf16
    %0 = tensor.empty() : tensor<96x128xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xbf16>, tensor<64x128xbf16>) outs(%1 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %3 = tensor.empty() : tensor<96x128xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<96x128xf32>) outs(%3 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %7 = arith.truncf %in : f32 to bf16
      linalg.yield %7 : bf16
    } -> tensor<96x128xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<96x128xbf16>) outs(%3 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %7 = arith.cmpf ugt, %in, %cst_0 : bf16
      %8 = arith.select %7, %in, %cst_0 : bf16
      linalg.yield %8 : bf16
    } -> tensor<96x128xbf16>
    %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<96x128xbf16>) outs(%3 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %7 = math.exp %in : bf16
      linalg.yield %7 : bf16
    } -> tensor<96x128xbf16>
    return %5, %6 : tensor<96x128xbf16>, tensor<96x128xbf16>
  }
}
