// jax 0.10.2, torch-mlir 20261001
#map = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
#map1 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
#map2 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x64x2x64xbf16>, %arg1: tensor<2x64x2x64xbf16>) -> (tensor<2x2x64x64xbf16> {jax.result_info = "result"}) {
    %cst = arith.constant 0.000000e+00 : bf16
    %0 = tensor.empty() : tensor<2x2x64x64xbf16>
    %1 = linalg.fill ins(%cst : bf16) outs(%0 : tensor<2x2x64x64xbf16>) -> tensor<2x2x64x64xbf16>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<2x64x2x64xbf16>, tensor<2x64x2x64xbf16>) outs(%1 : tensor<2x2x64x64xbf16>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: bf16):
      %3 = arith.mulf %in, %in_0 : bf16
      %4 = arith.addf %out, %3 : bf16
      linalg.yield %4 : bf16
    } -> tensor<2x2x64x64xbf16>
    return %2 : tensor<2x2x64x64xbf16>
  }
}
