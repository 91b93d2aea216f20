// torch 2.13.0+cpu, torch-mlir 20261001
module {
  func.func @main(%arg0: tensor<96x64xf32>, %arg1: tensor<64x128xf32>) -> tensor<96x128xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<96x128xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<96x128xf32>) -> tensor<96x128xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xf32>, tensor<64x128xf32>) outs(%1 : tensor<96x128xf32>) -> tensor<96x128xf32>
    return %2 : tensor<96x128xf32>
  }
}
