// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<128x64xbf16>, %arg2: tensor<128xbf16>) -> tensor<96x128xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %c3_i64 = arith.constant 3 : i64
    %cst_0 = arith.constant 4.467770e-02 : bf16
    %cst_1 = arith.constant 7.968750e-01 : bf16
    %cst_2 = arith.constant 1.000000e+00 : bf16
    %cst_3 = arith.constant 5.000000e-01 : bf16
    %0 = tensor.empty() : tensor<64x128xbf16>
    %transposed = linalg.transpose ins(%arg1 : tensor<128x64xbf16>) outs(%0 : tensor<64x128xbf16>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<128xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<128xbf16>) outs(%1 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %14 = arith.extf %in : bf16 to f32
      linalg.yield %14 : f32
    } -> tensor<128xf32>
    %3 = tensor.empty() : tensor<96x64xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<96x64xbf16>) outs(%3 : tensor<96x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %14 = arith.extf %in : bf16 to f32
      linalg.yield %14 : f32
    } -> tensor<96x64xf32>
    %5 = tensor.empty() : tensor<64x128xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<64x128xbf16>) outs(%5 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %14 = arith.extf %in : bf16 to f32
      linalg.yield %14 : f32
    } -> tensor<64x128xf32>
    %7 = tensor.empty() : tensor<96x128xf32>
    %8 = linalg.fill ins(%cst : f32) outs(%7 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %9 = linalg.matmul ins(%4, %6 : tensor<96x64xf32>, tensor<64x128xf32>) outs(%8 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %10 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %2 : tensor<96x128xf32>, tensor<128xf32>) outs(%7 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %14 = arith.addf %in, %in_4 : f32
      linalg.yield %14 : f32
    } -> tensor<96x128xf32>
    %11 = tensor.empty() : tensor<96x128xbf16>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%10 : tensor<96x128xf32>) outs(%11 : tensor<96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %14 = arith.truncf %in : f32 to bf16
      linalg.yield %14 : bf16
    } -> tensor<96x128xbf16>
    %13 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<96x128xbf16>) outs(%11 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %14 = math.fpowi %in, %c3_i64 : bf16, i64
      %15 = arith.mulf %14, %cst_0 : bf16
      %16 = arith.addf %in, %15 : bf16
      %17 = arith.mulf %16, %cst_1 : bf16
      %18 = math.tanh %17 : bf16
      %19 = arith.addf %18, %cst_2 : bf16
      %20 = arith.mulf %19, %cst_3 : bf16
      %21 = arith.mulf %in, %20 : bf16
      linalg.yield %21 : bf16
    } -> tensor<96x128xbf16>
    return %13 : tensor<96x128xbf16>
  }
}
