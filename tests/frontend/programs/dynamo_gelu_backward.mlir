// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<64x128xbf16>, %arg2: tensor<96x128xbf16>) -> tensor<96x128xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 5.000000e-01 : f32
    %cst_1 = arith.constant -5.000000e-01 : f32
    %cst_2 = arith.constant 1.000000e+00 : f32
    %cst_3 = arith.constant 0.398942292 : f32
    %cst_4 = arith.constant 1.41421354 : f32
    %0 = tensor.empty() : tensor<96x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<96x64xbf16>) outs(%0 : tensor<96x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %11 = arith.extf %in : bf16 to f32
      linalg.yield %11 : f32
    } -> tensor<96x64xf32>
    %2 = tensor.empty() : tensor<64x128xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xbf16>) outs(%2 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %11 = arith.extf %in : bf16 to f32
      linalg.yield %11 : f32
    } -> tensor<64x128xf32>
    %4 = tensor.empty() : tensor<96x128xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<96x128xbf16>) outs(%4 : tensor<96x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %11 = arith.extf %in : bf16 to f32
      linalg.yield %11 : f32
    } -> tensor<96x128xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%4 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %7 = linalg.matmul ins(%1, %3 : tensor<96x64xf32>, tensor<64x128xf32>) outs(%6 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%7, %5 : tensor<96x128xf32>, tensor<96x128xf32>) outs(%4 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_5: f32, %out: f32):
      %11 = arith.mulf %in_5, %in_5 : f32
      %12 = arith.mulf %11, %cst_1 : f32
      %13 = math.exp %12 : f32
      %14 = arith.divf %in_5, %cst_4 : f32
      %15 = math.erf %14 : f32
      %16 = arith.addf %15, %cst_2 : f32
      %17 = arith.mulf %16, %cst_0 : f32
      %18 = arith.mulf %13, %in_5 : f32
      %19 = arith.mulf %18, %cst_3 : f32
      %20 = arith.addf %19, %17 : f32
      %21 = arith.mulf %in, %20 : f32
      linalg.yield %21 : f32
    } -> tensor<96x128xf32>
    %9 = tensor.empty() : tensor<96x128xbf16>
    %10 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<96x128xf32>) outs(%9 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %11 = arith.truncf %in : f32 to bf16
      linalg.yield %11 : bf16
    } -> tensor<96x128xbf16>
    return %10 : tensor<96x128xbf16>
  }
}
