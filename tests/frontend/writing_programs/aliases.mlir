// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @main(%arg0: tensor<8x64xbf16>, %arg1: tensor<64x64xbf16>) -> (tensor<8x64xbf16>, tensor<4x128xbf16>, tensor<2x64xbf16>, tensor<8x64xbf16>, tensor<3x64xbf16>) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<8x64xbf16>, tensor<64x64xbf16>) outs(%1 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %3 = tensor.empty() : tensor<8x64xbf16>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<8x64xf32>) outs(%3 : tensor<8x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %7 = arith.truncf %in : f32 to bf16
      linalg.yield %7 : bf16
    } -> tensor<8x64xbf16>
    %collapsed = tensor.collapse_shape %4 [[0, 1]] : tensor<8x64xbf16> into tensor<512xbf16>
    %expanded = tensor.expand_shape %collapsed [[0, 1]] output_shape [4, 128] : tensor<512xbf16> into tensor<4x128xbf16>
    %extracted_slice = tensor.extract_slice %4[2, 0] [2, 64] [1, 1] : tensor<8x64xbf16> to tensor<2x64xbf16>
    %extracted_slice_0 = tensor.extract_slice %4[0, 0] [1, 64] [1, 1] : tensor<8x64xbf16> to tensor<1x64xbf16>
    %5 = tensor.empty() : tensor<3x64xbf16>
    %collapsed_1 = tensor.collapse_shape %extracted_slice_0 [[0, 1]] : tensor<1x64xbf16> into tensor<64xbf16>
    %6 = linalg.generic {indexing_maps = [#map1, #map], iterator_types = ["parallel", "parallel"]} ins(%collapsed_1 : tensor<64xbf16>) outs(%5 : tensor<3x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<3x64xbf16>
    return %4, %expanded, %extracted_slice, %4, %6 : tensor<8x64xbf16>, tensor<4x128xbf16>, tensor<2x64xbf16>, tensor<8x64xbf16>, tensor<3x64xbf16>
  }
}
