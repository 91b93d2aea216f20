// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<64x128xbf16>, %arg2: tensor<64x128xbf16>) -> tensor<96x128xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %0 = tensor.empty() : tensor<96x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<96x64xbf16>) outs(%0 : tensor<96x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %14 = arith.extf %in : bf16 to f32
      linalg.yield %14 : f32
    } -> tensor<96x64xf32>
    %2 = tensor.empty() : tensor<64x128xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<64x128xbf16>) outs(%2 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %14 = arith.extf %in : bf16 to f32
      linalg.yield %14 : f32
    } -> tensor<64x128xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<64x128xbf16>) outs(%2 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %14 = arith.extf %in : bf16 to f32
      linalg.yield %14 : f32
    } -> tensor<64x128xf32>
    %5 = tensor.empty() : tensor<96x128xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %7 = linalg.matmul ins(%1, %3 : tensor<96x64xf32>, tensor<64x128xf32>) outs(%6 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<96x128xf32>) outs(%5 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %14 = arith.negf %in : f32
      %15 = math.exp %14 : f32
      %16 = arith.addf %15, %cst_0 : f32
      %17 = arith.divf %cst_0, %16 : f32
      linalg.yield %17 : f32
    } -> tensor<96x128xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%8, %7 : tensor<96x128xf32>, tensor<96x128xf32>) outs(%5 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %14 = arith.mulf %in, %in_1 : f32
      linalg.yield %14 : f32
    } -> tensor<96x128xf32>
    %10 = linalg.matmul ins(%1, %4 : tensor<96x64xf32>, tensor<64x128xf32>) outs(%6 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %11 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%9, %10 : tensor<96x128xf32>, tensor<96x128xf32>) outs(%5 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %14 = arith.mulf %in, %in_1 : f32
      linalg.yield %14 : f32
    } -> tensor<96x128xf32>
    %12 = tensor.empty() : tensor<96x128xbf16>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%11 : tensor<96x128xf32>) outs(%12 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %14 = arith.truncf %in : f32 to bf16
      linalg.yield %14 : bf16
    } -> tensor<96x128xbf16>
    return %13 : tensor<96x128xbf16>
  }
}
