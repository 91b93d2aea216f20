// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<1x16x8x8xbf16>, %arg1: tensor<16x16x3x3xbf16>) -> tensor<1x16x8x8xbf16> {
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant 0.000000e+00 : f32
    %padded = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%arg2: index, %arg3: index, %arg4: index, %arg5: index):
      tensor.yield %cst : bf16
    } : tensor<1x16x8x8xbf16> to tensor<1x16x10x10xbf16>
    %0 = tensor.empty() : tensor<1x16x8x8xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %2 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%padded, %arg1 : tensor<1x16x10x10xbf16>, tensor<16x16x3x3xbf16>) outs(%1 : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
    %3 = tensor.empty() : tensor<1x16x8x8xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<1x16x8x8xf32>) outs(%3 : tensor<1x16x8x8xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %5 = arith.truncf %in : f32 to bf16
      linalg.yield %5 : bf16
    } -> tensor<1x16x8x8xbf16>
    return %4 : tensor<1x16x8x8xbf16>
  }
}
