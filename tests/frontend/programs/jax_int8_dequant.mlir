// jax 0.10.2, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<96x64xi8>, %arg1: tensor<64x128xi8>, %arg2: tensor<128xf32>) -> (tensor<96x128xbf16> {jax.result_info = "result"}) {
    %c0_i32 = arith.constant 0 : i32
    %0 = tensor.empty() : tensor<96x128xi32>
    %1 = linalg.fill ins(%c0_i32 : i32) outs(%0 : tensor<96x128xi32>) -> tensor<96x128xi32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xi8>, tensor<64x128xi8>) outs(%1 : tensor<96x128xi32>) -> tensor<96x128xi32>
    %3 = tensor.empty() : tensor<96x128xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<96x128xi32>) outs(%3 : tensor<96x128xf32>) {
    ^bb0(%in: i32, %out: f32):
      %11 = arith.sitofp %in : i32 to f32
      linalg.yield %11 : f32
    } -> tensor<96x128xf32>
    %5 = tensor.empty() : tensor<1x128xf32>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<128xf32>) outs(%5 : tensor<1x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1x128xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map], iterator_types = ["parallel", "parallel"]} ins(%6 : tensor<1x128xf32>) outs(%3 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<96x128xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%4, %7 : tensor<96x128xf32>, tensor<96x128xf32>) outs(%3 : tensor<96x128xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %11 = arith.mulf %in, %in_0 : f32
      linalg.yield %11 : f32
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
