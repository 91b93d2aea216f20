// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<()[s0] -> (s0 * 64)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1) -> (d1)>
#map7 = affine_map<()[s0] -> (s0 * 2)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<64xbf16> {smem.shape = [64]}, %arg1: tensor<64xbf16> {smem.shape = [64]}, %arg2: tensor<64xbf16> {smem.shape = [64]}, %arg3: tensor<64xbf16> {smem.shape = [64]}, %arg4: tensor<192x64xbf16> {smem.shape = [192, 64]}, %arg5: tensor<192xbf16> {smem.shape = [192]}, %arg6: tensor<64x64xbf16> {smem.shape = [64, 64]}, %arg7: tensor<64xbf16> {smem.shape = [64]}, %arg8: tensor<128x64xbf16> {smem.shape = [128, 64]}, %arg9: tensor<128xbf16> {smem.shape = [128]}, %arg10: tensor<64x128xbf16> {smem.shape = [64, 128]}, %arg11: tensor<64xbf16> {smem.shape = [64]}, %arg12: tensor<?x64x64xbf16> {smem.shape = ["s23", 64, 64]}) -> tensor<?x64x64xbf16> {
    %c3_i64 = arith.constant 3 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %cst_2 = arith.constant 4.467770e-02 : bf16
    %cst_3 = arith.constant 7.968750e-01 : bf16
    %cst_4 = arith.constant 1.000000e+00 : bf16
    %cst_5 = arith.constant 5.000000e-01 : bf16
    %cst_6 = arith.constant 0.17677669529663689 : f64
    %cst_7 = arith.constant 1.000000e-05 : f64
    %cst_8 = arith.constant 6.400000e+01 : f64
    %cst_9 = arith.constant 6.400000e+01 : f32
    %dim = tensor.dim %arg12, %c0 : tensor<?x64x64xbf16>
    %0 = tensor.empty(%dim) : tensor<?x64x64xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12 : tensor<?x64x64xbf16>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<?x64x64xf32>
    %2 = tensor.empty(%dim) : tensor<?x64x64xf64>
    %3 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1 : tensor<?x64x64xf32>) outs(%2 : tensor<?x64x64xf64>) {
    ^bb0(%in: f32, %out: f64):
      %140 = arith.extf %in : f32 to f64
      linalg.yield %140 : f64
    } -> tensor<?x64x64xf64>
    %4 = tensor.empty(%dim) : tensor<?x64x1xf64>
    %5 = linalg.fill ins(%cst : f64) outs(%4 : tensor<?x64x1xf64>) -> tensor<?x64x1xf64>
    %6 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%3 : tensor<?x64x64xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.addf %in, %out : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<?x64x1xf64>) outs(%4 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.divf %in, %cst_8 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3, %7 : tensor<?x64x64xf64>, tensor<?x64x1xf64>) outs(%2 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %140 = arith.subf %in, %in_32 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x64xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%8, %8 : tensor<?x64x64xf64>, tensor<?x64x64xf64>) outs(%2 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %140 = arith.mulf %in, %in_32 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x64xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%9 : tensor<?x64x64xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.addf %in, %out : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%10 : tensor<?x64x1xf64>) outs(%4 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.divf %in, %cst_8 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %12 = tensor.empty(%dim) : tensor<?x64x1xf32>
    %13 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<?x64x1xf64>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %140 = arith.truncf %in : f64 to f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<?x64x1xf32>) -> tensor<?x64x1xf32>
    %15 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%1 : tensor<?x64x64xf32>) outs(%14 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %out : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%15 : tensor<?x64x1xf32>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %in, %cst_9 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%13 : tensor<?x64x1xf32>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.truncf %cst_7 : f64 to f32
      %141 = arith.addf %in, %140 : f32
      linalg.yield %141 : f32
    } -> tensor<?x64x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%17 : tensor<?x64x1xf32>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.rsqrt %in : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%1, %16 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.subf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x64xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%19, %18 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.mulf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x64xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %arg0 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: bf16, %out: f32):
      %140 = arith.extf %in_32 : bf16 to f32
      %141 = arith.mulf %in, %140 : f32
      linalg.yield %141 : f32
    } -> tensor<?x64x64xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %arg1 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: bf16, %out: f32):
      %140 = arith.extf %in_32 : bf16 to f32
      %141 = arith.addf %in, %140 : f32
      linalg.yield %141 : f32
    } -> tensor<?x64x64xf32>
    %23 = tensor.empty(%dim) : tensor<?x64x64xbf16>
    %24 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22 : tensor<?x64x64xf32>) outs(%23 : tensor<?x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64x64xbf16>
    %collapsed = tensor.collapse_shape %24 [[0, 1], [2]] : tensor<?x64x64xbf16> into tensor<?x64xbf16>
    %25 = tensor.empty() : tensor<64x192xbf16>
    %transposed = linalg.transpose ins(%arg4 : tensor<192x64xbf16>) outs(%25 : tensor<64x192xbf16>) permutation = [1, 0]
    %26 = tensor.empty() : tensor<192xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg5 : tensor<192xbf16>) outs(%26 : tensor<192xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<192xf32>
    %28 = affine.apply #map4()[%dim]
    %29 = tensor.empty(%28) : tensor<?x64xf32>
    %30 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<?x64xbf16>) outs(%29 : tensor<?x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<?x64xf32>
    %31 = tensor.empty() : tensor<64x192xf32>
    %32 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<64x192xbf16>) outs(%31 : tensor<64x192xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<64x192xf32>
    %33 = tensor.empty(%28) : tensor<?x192xf32>
    %34 = linalg.fill ins(%cst_0 : f32) outs(%33 : tensor<?x192xf32>) -> tensor<?x192xf32>
    %35 = linalg.matmul ins(%30, %32 : tensor<?x64xf32>, tensor<64x192xf32>) outs(%34 : tensor<?x192xf32>) -> tensor<?x192xf32>
    %36 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%35, %27 : tensor<?x192xf32>, tensor<192xf32>) outs(%33 : tensor<?x192xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.addf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x192xf32>
    %37 = tensor.empty(%28) : tensor<?x192xbf16>
    %38 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%36 : tensor<?x192xf32>) outs(%37 : tensor<?x192xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x192xbf16>
    %39 = arith.divsi %28, %c64 : index
    %expanded = tensor.expand_shape %38 [[0, 1], [2, 3, 4]] output_shape [%39, 64, 3, 2, 32] : tensor<?x192xbf16> into tensor<?x64x3x2x32xbf16>
    %40 = tensor.empty(%39) : tensor<3x?x2x64x32xbf16>
    %transposed_10 = linalg.transpose ins(%expanded : tensor<?x64x3x2x32xbf16>) outs(%40 : tensor<3x?x2x64x32xbf16>) permutation = [2, 0, 3, 1, 4]
    %extracted_slice = tensor.extract_slice %transposed_10[0, 0, 0, 0, 0] [1, %39, 2, 64, 32] [1, 1, 1, 1, 1] : tensor<3x?x2x64x32xbf16> to tensor<1x?x2x64x32xbf16>
    %extracted_slice_11 = tensor.extract_slice %transposed_10[1, 0, 0, 0, 0] [1, %39, 2, 64, 32] [1, 1, 1, 1, 1] : tensor<3x?x2x64x32xbf16> to tensor<1x?x2x64x32xbf16>
    %extracted_slice_12 = tensor.extract_slice %transposed_10[2, 0, 0, 0, 0] [1, %39, 2, 64, 32] [1, 1, 1, 1, 1] : tensor<3x?x2x64x32xbf16> to tensor<1x?x2x64x32xbf16>
    %collapsed_13 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2], [3], [4]] : tensor<1x?x2x64x32xbf16> into tensor<?x2x64x32xbf16>
    %41 = tensor.empty(%39) : tensor<?x2x32x64xbf16>
    %transposed_14 = linalg.transpose ins(%collapsed_13 : tensor<?x2x64x32xbf16>) outs(%41 : tensor<?x2x32x64xbf16>) permutation = [0, 1, 3, 2]
    %collapsed_15 = tensor.collapse_shape %extracted_slice [[0, 1, 2], [3], [4]] : tensor<1x?x2x64x32xbf16> into tensor<?x64x32xbf16>
    %collapsed_16 = tensor.collapse_shape %transposed_14 [[0, 1], [2], [3]] : tensor<?x2x32x64xbf16> into tensor<?x32x64xbf16>
    %42 = affine.apply #map7()[%39]
    %43 = arith.index_cast %42 : index to i64
    %44 = tensor.empty(%42) : tensor<?x64x64xf32>
    %45 = linalg.fill ins(%cst_0 : f32) outs(%44 : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    %46 = linalg.batch_matmul ins(%collapsed_15, %collapsed_16 : tensor<?x64x32xbf16>, tensor<?x32x64xbf16>) outs(%45 : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    %47 = tensor.empty(%42) : tensor<?x64x64xbf16>
    %48 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%46 : tensor<?x64x64xf32>) outs(%47 : tensor<?x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64x64xbf16>
    %49 = arith.divsi %42, %c2 : index
    %expanded_17 = tensor.expand_shape %48 [[0, 1], [2], [3]] output_shape [%49, 2, 64, 64] : tensor<?x64x64xbf16> into tensor<?x2x64x64xbf16>
    %50 = tensor.empty(%49) : tensor<?x2x64x64xbf16>
    %51 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_17 : tensor<?x2x64x64xbf16>) outs(%50 : tensor<?x2x64x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %140 = arith.truncf %cst_6 : f64 to bf16
      %141 = arith.mulf %in, %140 : bf16
      linalg.yield %141 : bf16
    } -> tensor<?x2x64x64xbf16>
    %52 = tensor.empty(%49) : tensor<?x2x64x64xf32>
    %53 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51 : tensor<?x2x64x64xbf16>) outs(%52 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<?x2x64x64xf32>
    %54 = tensor.empty(%49) : tensor<?x2x64xi64>
    %55 = linalg.fill ins(%c0_i64 : i64) outs(%54 : tensor<?x2x64xi64>) -> tensor<?x2x64xi64>
    %56 = tensor.empty(%49) : tensor<?x2x64xf32>
    %57 = linalg.fill ins(%cst_1 : f32) outs(%56 : tensor<?x2x64xf32>) -> tensor<?x2x64xf32>
    %58:2 = linalg.generic {indexing_maps = [#map8, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%53 : tensor<?x2x64x64xf32>) outs(%57, %55 : tensor<?x2x64xf32>, tensor<?x2x64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_32: i64):
      %140 = linalg.index 3 : index
      %141 = arith.index_cast %140 : index to i64
      %142 = arith.maximumf %in, %out : f32
      %143 = arith.cmpf ogt, %in, %out : f32
      %144 = arith.select %143, %141, %out_32 : i64
      linalg.yield %142, %144 : f32, i64
    } -> (tensor<?x2x64xf32>, tensor<?x2x64xi64>)
    %expanded_18 = tensor.expand_shape %58#0 [[0], [1], [2, 3]] output_shape [%49, 2, 64, 1] : tensor<?x2x64xf32> into tensor<?x2x64x1xf32>
    %59 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%53, %expanded_18 : tensor<?x2x64x64xf32>, tensor<?x2x64x1xf32>) outs(%52 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.subf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x2x64x64xf32>
    %60 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%59 : tensor<?x2x64x64xf32>) outs(%52 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.exp %in : f32
      linalg.yield %140 : f32
    } -> tensor<?x2x64x64xf32>
    %61 = tensor.empty(%49) : tensor<?x2x64x1xf32>
    %62 = linalg.fill ins(%cst_0 : f32) outs(%61 : tensor<?x2x64x1xf32>) -> tensor<?x2x64x1xf32>
    %63 = linalg.generic {indexing_maps = [#map8, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%60 : tensor<?x2x64x64xf32>) outs(%62 : tensor<?x2x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %out : f32
      linalg.yield %140 : f32
    } -> tensor<?x2x64x1xf32>
    %64 = linalg.generic {indexing_maps = [#map8, #map10, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %63 : tensor<?x2x64x64xf32>, tensor<?x2x64x1xf32>) outs(%52 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.divf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x2x64x64xf32>
    %65 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<?x2x64x64xf32>) outs(%50 : tensor<?x2x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x2x64x64xbf16>
    %collapsed_19 = tensor.collapse_shape %65 [[0, 1], [2], [3]] : tensor<?x2x64x64xbf16> into tensor<?x64x64xbf16>
    %collapsed_20 = tensor.collapse_shape %extracted_slice_12 [[0, 1, 2], [3], [4]] : tensor<1x?x2x64x32xbf16> into tensor<?x64x32xbf16>
    %66 = affine.apply #map7()[%49]
    %67 = arith.index_cast %66 : index to i64
    %68 = arith.cmpi eq, %67, %43 : i64
    cf.assert %68, "mismatching contracting dimension"
    %69 = tensor.empty(%66) : tensor<?x64x32xf32>
    %70 = linalg.fill ins(%cst_0 : f32) outs(%69 : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
    %71 = linalg.batch_matmul ins(%collapsed_19, %collapsed_20 : tensor<?x64x64xbf16>, tensor<?x64x32xbf16>) outs(%70 : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
    %72 = tensor.empty(%66) : tensor<?x64x32xbf16>
    %73 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71 : tensor<?x64x32xf32>) outs(%72 : tensor<?x64x32xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64x32xbf16>
    %74 = arith.divsi %66, %c2 : index
    %expanded_21 = tensor.expand_shape %73 [[0, 1], [2], [3]] output_shape [%74, 2, 64, 32] : tensor<?x64x32xbf16> into tensor<?x2x64x32xbf16>
    %75 = tensor.empty(%74) : tensor<?x64x2x32xbf16>
    %transposed_22 = linalg.transpose ins(%expanded_21 : tensor<?x2x64x32xbf16>) outs(%75 : tensor<?x64x2x32xbf16>) permutation = [0, 2, 1, 3]
    %collapsed_23 = tensor.collapse_shape %transposed_22 [[0, 1], [2, 3]] : tensor<?x64x2x32xbf16> into tensor<?x64xbf16>
    %76 = tensor.empty() : tensor<64x64xbf16>
    %transposed_24 = linalg.transpose ins(%arg6 : tensor<64x64xbf16>) outs(%76 : tensor<64x64xbf16>) permutation = [1, 0]
    %77 = tensor.empty() : tensor<64xf32>
    %78 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg7 : tensor<64xbf16>) outs(%77 : tensor<64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<64xf32>
    %79 = affine.apply #map4()[%74]
    %80 = tensor.empty(%79) : tensor<?x64xf32>
    %81 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed_23 : tensor<?x64xbf16>) outs(%80 : tensor<?x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<?x64xf32>
    %82 = tensor.empty() : tensor<64x64xf32>
    %83 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed_24 : tensor<64x64xbf16>) outs(%82 : tensor<64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<64x64xf32>
    %84 = linalg.fill ins(%cst_0 : f32) outs(%80 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %85 = linalg.matmul ins(%81, %83 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%84 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %86 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%85, %78 : tensor<?x64xf32>, tensor<64xf32>) outs(%80 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.addf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64xf32>
    %87 = tensor.empty(%79) : tensor<?x64xbf16>
    %88 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%86 : tensor<?x64xf32>) outs(%87 : tensor<?x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64xbf16>
    %89 = arith.divsi %79, %c64 : index
    %expanded_25 = tensor.expand_shape %88 [[0, 1], [2]] output_shape [%89, 64, 64] : tensor<?x64xbf16> into tensor<?x64x64xbf16>
    %90 = arith.cmpi eq, %dim, %89 : index
    cf.assert %90, "mismatched size for broadcast"
    %91 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12, %expanded_25 : tensor<?x64x64xbf16>, tensor<?x64x64xbf16>) outs(%23 : tensor<?x64x64xbf16>) {
    ^bb0(%in: bf16, %in_32: bf16, %out: bf16):
      %140 = arith.addf %in, %in_32 : bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64x64xbf16>
    %92 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91 : tensor<?x64x64xbf16>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<?x64x64xf32>
    %93 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92 : tensor<?x64x64xf32>) outs(%2 : tensor<?x64x64xf64>) {
    ^bb0(%in: f32, %out: f64):
      %140 = arith.extf %in : f32 to f64
      linalg.yield %140 : f64
    } -> tensor<?x64x64xf64>
    %94 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%93 : tensor<?x64x64xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.addf %in, %out : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %95 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%94 : tensor<?x64x1xf64>) outs(%4 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.divf %in, %cst_8 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %96 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%93, %95 : tensor<?x64x64xf64>, tensor<?x64x1xf64>) outs(%2 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %140 = arith.subf %in, %in_32 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x64xf64>
    %97 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96, %96 : tensor<?x64x64xf64>, tensor<?x64x64xf64>) outs(%2 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_32: f64, %out: f64):
      %140 = arith.mulf %in, %in_32 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x64xf64>
    %98 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%97 : tensor<?x64x64xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.addf %in, %out : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %99 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<?x64x1xf64>) outs(%4 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %140 = arith.divf %in, %cst_8 : f64
      linalg.yield %140 : f64
    } -> tensor<?x64x1xf64>
    %100 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%99 : tensor<?x64x1xf64>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %140 = arith.truncf %in : f64 to f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %101 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%92 : tensor<?x64x64xf32>) outs(%14 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.addf %in, %out : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %102 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%101 : tensor<?x64x1xf32>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.divf %in, %cst_9 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %103 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100 : tensor<?x64x1xf32>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = arith.truncf %cst_7 : f64 to f32
      %141 = arith.addf %in, %140 : f32
      linalg.yield %141 : f32
    } -> tensor<?x64x1xf32>
    %104 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<?x64x1xf32>) outs(%12 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %140 = math.rsqrt %in : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x1xf32>
    %105 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%92, %102 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.subf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x64xf32>
    %106 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105, %104 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.mulf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64x64xf32>
    %107 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%106, %arg2 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: bf16, %out: f32):
      %140 = arith.extf %in_32 : bf16 to f32
      %141 = arith.mulf %in, %140 : f32
      linalg.yield %141 : f32
    } -> tensor<?x64x64xf32>
    %108 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107, %arg3 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%0 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_32: bf16, %out: f32):
      %140 = arith.extf %in_32 : bf16 to f32
      %141 = arith.addf %in, %140 : f32
      linalg.yield %141 : f32
    } -> tensor<?x64x64xf32>
    %109 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%108 : tensor<?x64x64xf32>) outs(%23 : tensor<?x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64x64xbf16>
    %collapsed_26 = tensor.collapse_shape %109 [[0, 1], [2]] : tensor<?x64x64xbf16> into tensor<?x64xbf16>
    %110 = tensor.empty() : tensor<64x128xbf16>
    %transposed_27 = linalg.transpose ins(%arg8 : tensor<128x64xbf16>) outs(%110 : tensor<64x128xbf16>) permutation = [1, 0]
    %111 = tensor.empty() : tensor<128xf32>
    %112 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg9 : tensor<128xbf16>) outs(%111 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<128xf32>
    %113 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed_26 : tensor<?x64xbf16>) outs(%29 : tensor<?x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<?x64xf32>
    %114 = tensor.empty() : tensor<64x128xf32>
    %115 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed_27 : tensor<64x128xbf16>) outs(%114 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<64x128xf32>
    %116 = tensor.empty(%28) : tensor<?x128xf32>
    %117 = linalg.fill ins(%cst_0 : f32) outs(%116 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %118 = linalg.matmul ins(%113, %115 : tensor<?x64xf32>, tensor<64x128xf32>) outs(%117 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %119 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%118, %112 : tensor<?x128xf32>, tensor<128xf32>) outs(%116 : tensor<?x128xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.addf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x128xf32>
    %120 = tensor.empty(%28) : tensor<?x128xbf16>
    %121 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%119 : tensor<?x128xf32>) outs(%120 : tensor<?x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x128xbf16>
    %expanded_28 = tensor.expand_shape %121 [[0, 1], [2]] output_shape [%39, 64, 128] : tensor<?x128xbf16> into tensor<?x64x128xbf16>
    %122 = tensor.empty(%39) : tensor<?x64x128xbf16>
    %123 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_28 : tensor<?x64x128xbf16>) outs(%122 : tensor<?x64x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %140 = math.fpowi %in, %c3_i64 : bf16, i64
      %141 = arith.mulf %140, %cst_2 : bf16
      %142 = arith.addf %in, %141 : bf16
      %143 = arith.mulf %142, %cst_3 : bf16
      %144 = math.tanh %143 : bf16
      %145 = arith.addf %144, %cst_4 : bf16
      %146 = arith.mulf %145, %cst_5 : bf16
      %147 = arith.mulf %in, %146 : bf16
      linalg.yield %147 : bf16
    } -> tensor<?x64x128xbf16>
    %collapsed_29 = tensor.collapse_shape %123 [[0, 1], [2]] : tensor<?x64x128xbf16> into tensor<?x128xbf16>
    %124 = tensor.empty() : tensor<128x64xbf16>
    %transposed_30 = linalg.transpose ins(%arg10 : tensor<64x128xbf16>) outs(%124 : tensor<128x64xbf16>) permutation = [1, 0]
    %125 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg11 : tensor<64xbf16>) outs(%77 : tensor<64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<64xf32>
    %126 = affine.apply #map4()[%39]
    %127 = tensor.empty(%126) : tensor<?x128xf32>
    %128 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed_29 : tensor<?x128xbf16>) outs(%127 : tensor<?x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<?x128xf32>
    %129 = tensor.empty() : tensor<128x64xf32>
    %130 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed_30 : tensor<128x64xbf16>) outs(%129 : tensor<128x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %140 = arith.extf %in : bf16 to f32
      linalg.yield %140 : f32
    } -> tensor<128x64xf32>
    %131 = tensor.empty(%126) : tensor<?x64xf32>
    %132 = linalg.fill ins(%cst_0 : f32) outs(%131 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %133 = linalg.matmul ins(%128, %130 : tensor<?x128xf32>, tensor<128x64xf32>) outs(%132 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %134 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%133, %125 : tensor<?x64xf32>, tensor<64xf32>) outs(%131 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_32: f32, %out: f32):
      %140 = arith.addf %in, %in_32 : f32
      linalg.yield %140 : f32
    } -> tensor<?x64xf32>
    %135 = tensor.empty(%126) : tensor<?x64xbf16>
    %136 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%134 : tensor<?x64xf32>) outs(%135 : tensor<?x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %140 = arith.truncf %in : f32 to bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64xbf16>
    %137 = arith.divsi %126, %c64 : index
    %expanded_31 = tensor.expand_shape %136 [[0, 1], [2]] output_shape [%137, 64, 64] : tensor<?x64xbf16> into tensor<?x64x64xbf16>
    %138 = arith.cmpi eq, %dim, %137 : index
    cf.assert %138, "mismatched size for broadcast"
    %139 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%91, %expanded_31 : tensor<?x64x64xbf16>, tensor<?x64x64xbf16>) outs(%23 : tensor<?x64x64xbf16>) {
    ^bb0(%in: bf16, %in_32: bf16, %out: bf16):
      %140 = arith.addf %in, %in_32 : bf16
      linalg.yield %140 : bf16
    } -> tensor<?x64x64xbf16>
    return %139 : tensor<?x64x64xbf16>
  }
}
