// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<8x64xbf16>, %arg1: tensor<64x64xbf16>) -> tensor<8x64xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<32x64xbf16>
    %inserted_slice = tensor.insert_slice %cst_0 into %arg1[0, 0] [32, 64] [1, 1] : tensor<32x64xbf16> into tensor<64x64xbf16>
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %2 = linalg.matmul ins(%arg0, %inserted_slice : tensor<8x64xbf16>, tensor<64x64xbf16>) outs(%1 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %3 = tensor.empty() : tensor<8x64xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<8x64xf32>) outs(%3 : tensor<8x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %5 = arith.truncf %in : f32 to bf16
      linalg.yield %5 : bf16
    } -> tensor<8x64xbf16>
    return %4 : tensor<8x64xbf16>
  }
}
