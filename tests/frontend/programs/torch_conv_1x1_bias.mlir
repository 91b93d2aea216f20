// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<2x64x8x8xbf16>, %arg1: tensor<128x64x1x1xbf16>, %arg2: tensor<128xbf16>) -> tensor<2x128x8x8xbf16> {
    %cst = arith.constant 0.000000e+00 : bf16
    %0 = tensor.empty() : tensor<2x128x8x8xf32>
    %1 = tensor.empty() : tensor<128xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg2 : tensor<128xbf16>) outs(%1 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %7 = arith.extf %in : bf16 to f32
      linalg.yield %7 : f32
    } -> tensor<128xf32>
    %broadcasted = linalg.broadcast ins(%2 : tensor<128xf32>) outs(%0 : tensor<2x128x8x8xf32>) dimensions = [0, 2, 3]
    %3 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%arg0, %arg1 : tensor<2x64x8x8xbf16>, tensor<128x64x1x1xbf16>) outs(%broadcasted : tensor<2x128x8x8xf32>) -> tensor<2x128x8x8xf32>
    %4 = tensor.empty() : tensor<2x128x8x8xbf16>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%3 : tensor<2x128x8x8xf32>) outs(%4 : tensor<2x128x8x8xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %7 = arith.truncf %in : f32 to bf16
      linalg.yield %7 : bf16
    } -> tensor<2x128x8x8xbf16>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%5 : tensor<2x128x8x8xbf16>) outs(%4 : tensor<2x128x8x8xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %7 = arith.cmpf ugt, %in, %cst : bf16
      %8 = arith.select %7, %in, %cst : bf16
      linalg.yield %8 : bf16
    } -> tensor<2x128x8x8xbf16>
    return %6 : tensor<2x128x8x8xbf16>
  }
}
