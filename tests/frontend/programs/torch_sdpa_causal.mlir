// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @main(%arg0: tensor<1x2x64x64xbf16>, %arg1: tensor<1x2x64x64xbf16>, %arg2: tensor<1x2x64x64xbf16>) -> tensor<1x2x64x64xbf16> {
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant 0xFF80 : bf16
    %0 = tensor.empty() : tensor<1x2x64x64xbf16>
    %1 = linalg.fill ins(%cst : bf16) outs(%0 : tensor<1x2x64x64xbf16>) -> tensor<1x2x64x64xbf16>
    %2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%1 : tensor<1x2x64x64xbf16>) {
    ^bb0(%out: bf16):
      %6 = linalg.index 2 : index
      %7 = linalg.index 3 : index
      %8 = arith.cmpi sge, %6, %7 : index
      %9 = arith.select %8, %cst, %cst_0 : bf16
      linalg.yield %9 : bf16
    } -> tensor<1x2x64x64xbf16>
    %collapsed = tensor.collapse_shape %arg0 [[0, 1], [2], [3]] : tensor<1x2x64x64xbf16> into tensor<2x64x64xbf16>
    %collapsed_1 = tensor.collapse_shape %arg1 [[0, 1], [2], [3]] : tensor<1x2x64x64xbf16> into tensor<2x64x64xbf16>
    %collapsed_2 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<1x2x64x64xbf16> into tensor<2x64x64xbf16>
    %collapsed_3 = tensor.collapse_shape %2 [[0, 1], [2], [3]] : tensor<1x2x64x64xbf16> into tensor<2x64x64xbf16>
    %3 = tensor.empty() : tensor<2x64x64xbf16>
    %4 = linalg.fill ins(%cst : bf16) outs(%3 : tensor<2x64x64xbf16>) -> tensor<2x64x64xbf16>
    %5 = tm_tensor.attention ins(%collapsed, %collapsed_1, %collapsed_2, %collapsed_3 : tensor<2x64x64xbf16>, tensor<2x64x64xbf16>, tensor<2x64x64xbf16>, tensor<2x64x64xbf16>) outs(%4 : tensor<2x64x64xbf16>) -> tensor<2x64x64xbf16>
    %expanded = tensor.expand_shape %5 [[0, 1], [2], [3]] output_shape [1, 2, 64, 64] : tensor<2x64x64xbf16> into tensor<1x2x64x64xbf16>
    return %expanded : tensor<1x2x64x64xbf16>
  }
}
