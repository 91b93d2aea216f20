// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @main(%arg0: tensor<96x64xi8>, %arg1: tensor<64x128xi8>) -> tensor<96x128xi8> {
    %c0_i32 = arith.constant 0 : i32
    %c5_i32 = arith.constant 5 : i32
    %0 = tensor.empty() : tensor<96x128xi32>
    %1 = linalg.fill ins(%c0_i32 : i32) outs(%0 : tensor<96x128xi32>) -> tensor<96x128xi32>
    %2 = linalg.matmul ins(%arg0, %arg1 : tensor<96x64xi8>, tensor<64x128xi8>) outs(%1 : tensor<96x128xi32>) -> tensor<96x128xi32>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%2 : tensor<96x128xi32>) outs(%0 : tensor<96x128xi32>) {
    ^bb0(%in: i32, %out: i32):
      %6 = arith.muli %in, %c5_i32 : i32
      linalg.yield %6 : i32
    } -> tensor<96x128xi32>
    %4 = tensor.empty() : tensor<96x128xi8>
    %5 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%3 : tensor<96x128xi32>) outs(%4 : tensor<96x128xi8>) {
    ^bb0(%in: i32, %out: i8):
      %6 = arith.trunci %in : i32 to i8
      linalg.yield %6 : i8
    } -> tensor<96x128xi8>
    return %5 : tensor<96x128xi8>
  }
}
