// jax 0.10.2, torch-mlir 20261001
module @jit_f32 attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<96x64xbf16>, %arg1: tensor<64x128xbf16>) -> (tensor<96x128xf32> {jax.result_info = "result"}) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<96x128xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xbf16>, tensor<64x128xbf16>) outs(%1 : tensor<96x128xf32>) -> tensor<96x128xf32>
    return %2 : tensor<96x128xf32>
  }
}
