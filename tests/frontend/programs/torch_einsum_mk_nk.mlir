// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module {
  func.func @main(%arg0: tensor<2x48x64xbf16>, %arg1: tensor<128x64xbf16>) -> tensor<2x48x128xbf16> {
    %cst = arith.constant 0.000000e+00 : f32
    %expanded = tensor.expand_shape %arg1 [[0], [1, 2, 3]] output_shape [128, 64, 1, 1] : tensor<128x64xbf16> into tensor<128x64x1x1xbf16>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2]] : tensor<2x48x64xbf16> into tensor<96x64xbf16>
    %expanded_0 = tensor.expand_shape %collapsed [[0, 1], [2]] output_shape [1, 96, 64] : tensor<96x64xbf16> into tensor<1x96x64xbf16>
    %0 = tensor.empty() : tensor<64x128x1x1xbf16>
    %transposed = linalg.transpose ins(%expanded : tensor<128x64x1x1xbf16>) outs(%0 : tensor<64x128x1x1xbf16>) permutation = [1, 0, 2, 3]
    %collapsed_1 = tensor.collapse_shape %transposed [[0], [1, 2, 3]] : tensor<64x128x1x1xbf16> into tensor<64x128xbf16>
    %expanded_2 = tensor.expand_shape %collapsed_1 [[0, 1], [2]] output_shape [1, 64, 128] : tensor<64x128xbf16> into tensor<1x64x128xbf16>
    %1 = tensor.empty() : tensor<1x96x128xf32>
    %2 = linalg.fill ins(%cst : f32) outs(%1 : tensor<1x96x128xf32>) -> tensor<1x96x128xf32>
    %3 = linalg.batch_matmul ins(%expanded_0, %expanded_2 : tensor<1x96x64xbf16>, tensor<1x64x128xbf16>) outs(%2 : tensor<1x96x128xf32>) -> tensor<1x96x128xf32>
    %4 = tensor.empty() : tensor<1x96x128xbf16>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<1x96x128xf32>) outs(%4 : tensor<1x96x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %7 = arith.truncf %in : f32 to bf16
      linalg.yield %7 : bf16
    } -> tensor<1x96x128xbf16>
    %collapsed_3 = tensor.collapse_shape %5 [[0, 1], [2]] : tensor<1x96x128xbf16> into tensor<96x128xbf16>
    %expanded_4 = tensor.expand_shape %collapsed_3 [[0, 1], [2, 3]] output_shape [2, 48, 1, 128] : tensor<96x128xbf16> into tensor<2x48x1x128xbf16>
    %6 = tensor.empty() : tensor<2x48x128x1xbf16>
    %transposed_5 = linalg.transpose ins(%expanded_4 : tensor<2x48x1x128xbf16>) outs(%6 : tensor<2x48x128x1xbf16>) permutation = [0, 1, 3, 2]
    %collapsed_6 = tensor.collapse_shape %transposed_5 [[0], [1], [2, 3]] : tensor<2x48x128x1xbf16> into tensor<2x48x128xbf16>
    return %collapsed_6 : tensor<2x48x128xbf16>
  }
}
