// jax 0.10.2, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d1)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (0, d1)>
#map3 = affine_map<(d0, d1) -> ()>
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<64x128xbf16>, %arg2: tensor<128xbf16>) -> (tensor<96x128xbf16> {jax.result_info = "result"}) {
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant dense<5.000000e-01> : tensor<bf16>
    %cst_1 = arith.constant dense<1.000000e+00> : tensor<bf16>
    %cst_2 = arith.constant dense<7.968750e-01> : tensor<bf16>
    %cst_3 = arith.constant dense<4.467770e-02> : tensor<bf16>
    %0 = tensor.empty() : tensor<96x128xbf16>
    %1 = linalg.fill ins(%cst : bf16) outs(%0 : tensor<96x128xbf16>) -> tensor<96x128xbf16>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xbf16>, tensor<64x128xbf16>) outs(%1 : tensor<96x128xbf16>) -> tensor<96x128xbf16>
    %3 = tensor.empty() : tensor<1x128xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg2 : tensor<128xbf16>) outs(%3 : tensor<1x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<1x128xbf16>
    %5 = linalg.generic {indexing_maps = [#map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<1x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<96x128xbf16>
    %6 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%2, %5 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.addf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %7 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %6 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.mulf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %8 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%7, %6 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.mulf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %9 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_3 : tensor<bf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<96x128xbf16>
    %10 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%9, %8 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.mulf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %11 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %10 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.addf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %12 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_2 : tensor<bf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<96x128xbf16>
    %13 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%12, %11 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.mulf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %14 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%13 : tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %20 = math.tanh %in : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %15 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_1 : tensor<bf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<96x128xbf16>
    %16 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%15, %14 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.addf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %17 = linalg.generic {indexing_maps = [#map3, #map1], iterator_types = ["parallel", "parallel"]} ins(%cst_0 : tensor<bf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<96x128xbf16>
    %18 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%17, %16 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.mulf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    %19 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%6, %18 : tensor<96x128xbf16>, tensor<96x128xbf16>) outs(%0 : tensor<96x128xbf16>) {
    ^bb0(%in: bf16, %in_4: bf16, %out: bf16):
      %20 = arith.mulf %in, %in_4 : bf16
      linalg.yield %20 : bf16
    } -> tensor<96x128xbf16>
    return %19 : tensor<96x128xbf16>
  }
}
