// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<() -> ()>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<64x64xbf16>, %arg1: tensor<i64>, %arg2: tensor<64x64xbf16>, %arg3: tensor<8x64xbf16>) -> (tensor<8x64xbf16>, tensor<i64>, tensor<64x64xbf16>) {
    %c1_i64 = arith.constant 1 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 2.000000e+00 : bf16
    %0 = tensor.empty() : tensor<i64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = []} ins(%arg1 : tensor<i64>) outs(%0 : tensor<i64>) {
    ^bb0(%in: i64, %out: i64):
      %9 = arith.addi %in, %c1_i64 : i64
      linalg.yield %9 : i64
    } -> tensor<i64>
    %extracted_slice = tensor.extract_slice %arg2[8, 0] [8, 64] [1, 1] : tensor<64x64xbf16> to tensor<8x64xbf16>
    %2 = tensor.empty() : tensor<8x64xf32>
    %3 = linalg.fill ins(%cst : f32) outs(%2 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %4 = linalg.matmul ins(%arg3, %arg0 : tensor<8x64xbf16>, tensor<64x64xbf16>) outs(%3 : tensor<8x64xf32>) -> tensor<8x64xf32>
    %5 = tensor.empty() : tensor<8x64xbf16>
    %6 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%4 : tensor<8x64xf32>) outs(%5 : tensor<8x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %9 = arith.truncf %in : f32 to bf16
      linalg.yield %9 : bf16
    } -> tensor<8x64xbf16>
    %7 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice, %6 : tensor<8x64xbf16>, tensor<8x64xbf16>) outs(%5 : tensor<8x64xbf16>) {
    ^bb0(%in: bf16, %in_1: bf16, %out: bf16):
      %9 = arith.addf %in, %in_1 : bf16
      linalg.yield %9 : bf16
    } -> tensor<8x64xbf16>
    %inserted_slice = tensor.insert_slice %7 into %arg2[8, 0] [8, 64] [1, 1] : tensor<8x64xbf16> into tensor<64x64xbf16>
    %8 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%arg3 : tensor<8x64xbf16>) outs(%5 : tensor<8x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %9 = arith.mulf %in, %cst_0 : bf16
      linalg.yield %9 : bf16
    } -> tensor<8x64xbf16>
    return %8, %1, %inserted_slice : tensor<8x64xbf16>, tensor<i64>, tensor<64x64xbf16>
  }
}
