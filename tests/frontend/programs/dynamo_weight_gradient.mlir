// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<96x128xbf16>, %arg1: tensor<96x64xbf16>) -> tensor<128x64xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<128x96xbf16>
    %transposed = linalg.transpose ins(%arg0 : tensor<96x128xbf16>) outs(%0 : tensor<128x96xbf16>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<128x96xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<128x96xbf16>) outs(%1 : tensor<128x96xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %10 = arith.extf %in : bf16 to f32
      linalg.yield %10 : f32
    } -> tensor<128x96xf32>
    %3 = tensor.empty() : tensor<96x64xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<96x64xbf16>) outs(%3 : tensor<96x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %10 = arith.extf %in : bf16 to f32
      linalg.yield %10 : f32
    } -> tensor<96x64xf32>
    %5 = tensor.empty() : tensor<128x64xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%5 : tensor<128x64xf32>) -> tensor<128x64xf32>
    %7 = linalg.matmul ins(%2, %4 : tensor<128x96xf32>, tensor<96x64xf32>) outs(%6 : tensor<128x64xf32>) -> tensor<128x64xf32>
    %8 = tensor.empty() : tensor<128x64xbf16>
    %9 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%7 : tensor<128x64xf32>) outs(%8 : tensor<128x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %10 = arith.truncf %in : f32 to bf16
      linalg.yield %10 : bf16
    } -> tensor<128x64xbf16>
    return %9 : tensor<128x64xbf16>
  }
}
