// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<128xbf16>, %arg1: tensor<?x64xbf16>, %arg2: tensor<128x64xbf16>, %arg3: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<128xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg0 : tensor<128xbf16>) outs(%0 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %17 = arith.extf %in : bf16 to f32
      linalg.yield %17 : f32
    } -> tensor<128xf32>
    %dim = tensor.dim %arg1, %c0 : tensor<?x64xbf16>
    %2 = tensor.empty(%dim) : tensor<?x64xf32>
    %3 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<?x64xbf16>) outs(%2 : tensor<?x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %17 = arith.extf %in : bf16 to f32
      linalg.yield %17 : f32
    } -> tensor<?x64xf32>
    %4 = tensor.empty() : tensor<64x128xbf16>
    %transposed = linalg.transpose ins(%arg2 : tensor<128x64xbf16>) outs(%4 : tensor<64x128xbf16>) permutation = [1, 0]
    %5 = tensor.empty() : tensor<64x128xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<64x128xbf16>) outs(%5 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %17 = arith.extf %in : bf16 to f32
      linalg.yield %17 : f32
    } -> tensor<64x128xf32>
    %dim_0 = tensor.dim %arg3, %c0 : tensor<?x128xbf16>
    %7 = tensor.empty(%dim_0) : tensor<?x128xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<?x128xbf16>) outs(%7 : tensor<?x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %17 = arith.extf %in : bf16 to f32
      linalg.yield %17 : f32
    } -> tensor<?x128xf32>
    %9 = tensor.empty(%dim) : tensor<?x128xf32>
    %10 = linalg.fill ins(%cst : f32) outs(%9 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %11 = linalg.matmul ins(%3, %6 : tensor<?x64xf32>, tensor<64x128xf32>) outs(%10 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %12 = linalg.generic {indexing_maps = [#map2, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%1, %11 : tensor<128xf32>, tensor<?x128xf32>) outs(%9 : tensor<?x128xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %17 = arith.addf %in, %in_1 : f32
      linalg.yield %17 : f32
    } -> tensor<?x128xf32>
    %13 = arith.cmpi eq, %dim_0, %dim : index
    cf.assert %13, "mismatched size for broadcast"
    %14 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8, %12 : tensor<?x128xf32>, tensor<?x128xf32>) outs(%7 : tensor<?x128xf32>) {
    ^bb0(%in: f32, %in_1: f32, %out: f32):
      %17 = arith.addf %in, %in_1 : f32
      linalg.yield %17 : f32
    } -> tensor<?x128xf32>
    %15 = tensor.empty(%dim_0) : tensor<?x128xbf16>
    %16 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<?x128xf32>) outs(%15 : tensor<?x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %17 = arith.truncf %in : f32 to bf16
      linalg.yield %17 : bf16
    } -> tensor<?x128xbf16>
    return %16 : tensor<?x128xbf16>
  }
}
