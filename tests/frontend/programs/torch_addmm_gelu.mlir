// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<64x128xbf16>, %arg2: tensor<128xbf16>) -> tensor<96x128xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : bf16
    %cst_1 = arith.constant 2.000000e+00 : bf16
    %cst_2 = arith.constant 5.000000e-01 : bf16
    %0 = tensor.empty() : tensor<128xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<128xbf16>) outs(%0 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %13 = arith.extf %in : bf16 to f32
      linalg.yield %13 : f32
    } -> tensor<128xf32>
    %2 = tensor.empty() : tensor<96x64xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<96x64xbf16>) outs(%2 : tensor<96x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %13 = arith.extf %in : bf16 to f32
      linalg.yield %13 : f32
    } -> tensor<96x64xf32>
    %4 = tensor.empty() : tensor<64x128xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xbf16>) outs(%4 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %13 = arith.extf %in : bf16 to f32
      linalg.yield %13 : f32
    } -> tensor<64x128xf32>
    %6 = tensor.empty() : tensor<96x128xf32>
    %7 = linalg.fill ins(%cst : f32) outs(%6 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %8 = linalg.matmul ins(%3, %5 : tensor<96x64xf32>, tensor<64x128xf32>) outs(%7 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %1 : tensor<96x128xf32>, tensor<128xf32>) outs(%6 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_3: f32, %out: f32):
      %13 = arith.addf %in, %in_3 : f32
      linalg.yield %13 : f32
    } -> tensor<96x128xf32>
    %10 = tensor.empty() : tensor<96x128xbf16>
    %11 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%9 : tensor<96x128xf32>) outs(%10 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %13 = arith.truncf %in : f32 to bf16
      linalg.yield %13 : bf16
    } -> tensor<96x128xbf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<96x128xbf16>) outs(%10 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %13 = math.sqrt %cst_1 : bf16
      %14 = arith.divf %in, %13 : bf16
      %15 = math.erf %14 : bf16
      %16 = arith.addf %15, %cst_0 : bf16
      %17 = arith.mulf %16, %cst_2 : bf16
      %18 = arith.mulf %in, %17 : bf16
      linalg.yield %18 : bf16
    } -> tensor<96x128xbf16>
    return %12 : tensor<96x128xbf16>
  }
}
