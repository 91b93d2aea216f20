// jax 0.10.2, torch-mlir 20261001
#map = affine_map<(d0, d1) -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<64x128xbf16>, %arg2: tensor<128x64xbf16>) -> (tensor<96x64xbf16> {jax.result_info = "result"}) {
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<bf16>
    %0 = tensor.empty() : tensor<96x128xbf16>
    %1 = linalg.fill ins(%cst : bf16) outs(%0 : tensor<96x128xbf16>) -> tensor<96x128xbf16>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xbf16>, tensor<64x128xbf16>) outs(%1 : tensor<96x128xbf16>) -> tensor<96x128xbf16>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<bf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<96x128xbf16>
    %4 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %3 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_1: bf16, %out: bf16):
      %8 = arith.maximumf %in, %in_1 : bf16
      linalg.yield %8 : bf16
    } -> tensor<96x128xbf16>
    %5 = tensor.empty() : tensor<96x64xbf16>
    %6 = linalg.fill ins(%cst : bf16) outs(%5 : tensor<96x64xbf16>) -> tensor<96x64xbf16>
    %7 = linalg.matmul ins(%4, %arg2 : tensor<96x128xbf16>, tensor<128x64xbf16>) outs(%6 : tensor<96x64xbf16>) -> tensor<96x64xbf16>
    return %7 : tensor<96x64xbf16>
  }
}
