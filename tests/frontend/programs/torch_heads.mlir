// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0, d1) -> (d0, d1)>
#map2 = affine_map<(d0, d1) -> (d1)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map4 = affine_map<(d0, d1) -> (0, d1)>
#map5 = affine_map<(d0, d1) -> (d0, 0)>
#map6 = affine_map<(d0, d1) -> ()>
#map7 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map8 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<128x128xbf16>, %arg1: tensor<128xbf16>, %arg2: tensor<128x128xbf16>, %arg3: tensor<128xbf16>, %arg4: tensor<128x128xbf16>, %arg5: tensor<128xbf16>, %arg6: tensor<128x128xbf16>, %arg7: tensor<128xbf16>, %arg8: tensor<2x64x128xbf16>) -> tensor<2x64x128xbf16> {
    %c0_i64 = arith.constant 0 : i64
    %cst = arith.constant 0.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %true = arith.constant true
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<2x2x64x64xf32>
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<f32>
    %cst_3 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_4 = arith.constant dense<true> : tensor<64x64xi1>
    %cst_5 = arith.constant 0xFFF0000000000000 : f64
    %cst_6 = arith.constant 0.35355339059327379 : f64
    %collapsed = tensor.collapse_shape %arg8 [[0, 1], [2]] : tensor<2x64x128xbf16> into tensor<128x128xbf16>
    %0 = tensor.empty() : tensor<128x128xbf16>
    %transposed = linalg.transpose ins(%arg0 : tensor<128x128xbf16>) outs(%0 : tensor<128x128xbf16>) permutation = [1, 0]
    %1 = tensor.empty() : tensor<128xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg1 : tensor<128xbf16>) outs(%1 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128xf32>
    %3 = tensor.empty() : tensor<128x128xf32>
    %4 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<128x128xbf16>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %5 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<128x128xbf16>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %6 = linalg.fill ins(%cst : f32) outs(%3 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %7 = linalg.matmul ins(%4, %5 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%6 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %8 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%7, %2 : tensor<128x128xf32>, tensor<128xf32>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %66 = arith.addf %in, %in_28 : f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %9 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<128x128xf32>) outs(%0 : tensor<128x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %66 = arith.truncf %in : f32 to bf16
      linalg.yield %66 : bf16
    } -> tensor<128x128xbf16>
    %expanded = tensor.expand_shape %9 [[0, 1], [2, 3]] output_shape [2, 64, 2, 64] : tensor<128x128xbf16> into tensor<2x64x2x64xbf16>
    %10 = tensor.empty() : tensor<2x2x64x64xbf16>
    %transposed_7 = linalg.transpose ins(%expanded : tensor<2x64x2x64xbf16>) outs(%10 : tensor<2x2x64x64xbf16>) permutation = [0, 2, 1, 3]
    %transposed_8 = linalg.transpose ins(%arg2 : tensor<128x128xbf16>) outs(%0 : tensor<128x128xbf16>) permutation = [1, 0]
    %11 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg3 : tensor<128xbf16>) outs(%1 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128xf32>
    %12 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_8 : tensor<128x128xbf16>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %13 = linalg.matmul ins(%4, %12 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%6 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %14 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%13, %11 : tensor<128x128xf32>, tensor<128xf32>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %66 = arith.addf %in, %in_28 : f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %15 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%14 : tensor<128x128xf32>) outs(%0 : tensor<128x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %66 = arith.truncf %in : f32 to bf16
      linalg.yield %66 : bf16
    } -> tensor<128x128xbf16>
    %expanded_9 = tensor.expand_shape %15 [[0, 1], [2, 3]] output_shape [2, 64, 2, 64] : tensor<128x128xbf16> into tensor<2x64x2x64xbf16>
    %transposed_10 = linalg.transpose ins(%expanded_9 : tensor<2x64x2x64xbf16>) outs(%10 : tensor<2x2x64x64xbf16>) permutation = [0, 2, 1, 3]
    %transposed_11 = linalg.transpose ins(%arg4 : tensor<128x128xbf16>) outs(%0 : tensor<128x128xbf16>) permutation = [1, 0]
    %16 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg5 : tensor<128xbf16>) outs(%1 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128xf32>
    %17 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_11 : tensor<128x128xbf16>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %18 = linalg.matmul ins(%4, %17 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%6 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %19 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%18, %16 : tensor<128x128xf32>, tensor<128xf32>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %66 = arith.addf %in, %in_28 : f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %20 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<128x128xf32>) outs(%0 : tensor<128x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %66 = arith.truncf %in : f32 to bf16
      linalg.yield %66 : bf16
    } -> tensor<128x128xbf16>
    %expanded_12 = tensor.expand_shape %20 [[0, 1], [2, 3]] output_shape [2, 64, 2, 64] : tensor<128x128xbf16> into tensor<2x64x2x64xbf16>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<2x64x2x64xbf16>) outs(%10 : tensor<2x2x64x64xbf16>) permutation = [0, 2, 1, 3]
    %21 = tensor.empty() : tensor<2x2x64x64xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_7 : tensor<2x2x64x64xbf16>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_10 : tensor<2x2x64x64xbf16>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_13 : tensor<2x2x64x64xbf16>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %25 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<2x2x64x64xf32>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.truncf %cst_6 : f64 to f32
      %67 = arith.mulf %in, %66 : f32
      linalg.yield %67 : f32
    } -> tensor<2x2x64x64xf32>
    %26 = tensor.empty() : tensor<64xi64>
    %27 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%26 : tensor<64xi64>) {
    ^bb0(%out: i64):
      %66 = linalg.index 0 : index
      %67 = arith.index_cast %66 : index to i64
      linalg.yield %67 : i64
    } -> tensor<64xi64>
    %expanded_14 = tensor.expand_shape %27 [[0, 1]] output_shape [1, 64] : tensor<64xi64> into tensor<1x64xi64>
    %expanded_15 = tensor.expand_shape %27 [[0, 1]] output_shape [64, 1] : tensor<64xi64> into tensor<64x1xi64>
    %28 = tensor.empty() : tensor<64x64xi64>
    %29 = linalg.generic {indexing_maps = [#map4, #map5, #map1], iterator_types = ["parallel", "parallel"]} ins(%expanded_14, %expanded_15 : tensor<1x64xi64>, tensor<64x1xi64>) outs(%28 : tensor<64x64xi64>) {
    ^bb0(%in: i64, %in_28: i64, %out: i64):
      %66 = arith.subi %in, %in_28 : i64
      linalg.yield %66 : i64
    } -> tensor<64x64xi64>
    %30 = tensor.empty() : tensor<64x64xi1>
    %31 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<64x64xi64>) outs(%30 : tensor<64x64xi1>) {
    ^bb0(%in: i64, %out: i1):
      %66 = arith.cmpi sle, %in, %c0_i64 : i64
      linalg.yield %66 : i1
    } -> tensor<64x64xi1>
    %32 = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%31, %cst_4 : tensor<64x64xi1>, tensor<64x64xi1>) outs(%30 : tensor<64x64xi1>) {
    ^bb0(%in: i1, %in_28: i1, %out: i1):
      %66 = arith.andi %in, %in_28 : i1
      linalg.yield %66 : i1
    } -> tensor<64x64xi1>
    %33 = tensor.empty() : tensor<64x64xf32>
    %34 = linalg.generic {indexing_maps = [#map1, #map6, #map6, #map1], iterator_types = ["parallel", "parallel"]} ins(%32, %cst_2, %cst_3 : tensor<64x64xi1>, tensor<f32>, tensor<f32>) outs(%33 : tensor<64x64xf32>) {
    ^bb0(%in: i1, %in_28: f32, %in_29: f32, %out: f32):
      %66 = arith.select %in, %in_28, %in_29 : f32
      linalg.yield %66 : f32
    } -> tensor<64x64xf32>
    %transposed_16 = linalg.transpose ins(%23 : tensor<2x2x64x64xf32>) outs(%21 : tensor<2x2x64x64xf32>) permutation = [0, 1, 3, 2]
    %35 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed_16 : tensor<2x2x64x64xf32>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.truncf %cst_6 : f64 to f32
      %67 = arith.mulf %in, %66 : f32
      linalg.yield %67 : f32
    } -> tensor<2x2x64x64xf32>
    %collapsed_17 = tensor.collapse_shape %25 [[0, 1], [2], [3]] : tensor<2x2x64x64xf32> into tensor<4x64x64xf32>
    %collapsed_18 = tensor.collapse_shape %35 [[0, 1], [2], [3]] : tensor<2x2x64x64xf32> into tensor<4x64x64xf32>
    %36 = tensor.empty() : tensor<4x64x64xf32>
    %37 = linalg.fill ins(%cst : f32) outs(%36 : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    %38 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<4x64x64xf32>, tensor<4x64x64xf32>) outs(%37 : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    %expanded_19 = tensor.expand_shape %38 [[0, 1], [2], [3]] output_shape [2, 2, 64, 64] : tensor<4x64x64xf32> into tensor<2x2x64x64xf32>
    %39 = linalg.generic {indexing_maps = [#map3, #map7, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19, %34 : tensor<2x2x64x64xf32>, tensor<64x64xf32>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %66 = arith.addf %in, %in_28 : f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %40 = tensor.empty() : tensor<2x2x64xi64>
    %41 = linalg.fill ins(%c0_i64 : i64) outs(%40 : tensor<2x2x64xi64>) -> tensor<2x2x64xi64>
    %42 = tensor.empty() : tensor<2x2x64xf32>
    %43 = linalg.fill ins(%cst_0 : f32) outs(%42 : tensor<2x2x64xf32>) -> tensor<2x2x64xf32>
    %44:2 = linalg.generic {indexing_maps = [#map3, #map8, #map8], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%39 : tensor<2x2x64x64xf32>) outs(%43, %41 : tensor<2x2x64xf32>, tensor<2x2x64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_28: i64):
      %66 = linalg.index 3 : index
      %67 = arith.index_cast %66 : index to i64
      %68 = arith.maximumf %in, %out : f32
      %69 = arith.cmpf ogt, %in, %out : f32
      %70 = arith.select %69, %67, %out_28 : i64
      linalg.yield %68, %70 : f32, i64
    } -> (tensor<2x2x64xf32>, tensor<2x2x64xi64>)
    %expanded_20 = tensor.expand_shape %44#0 [[0], [1], [2, 3]] output_shape [2, 2, 64, 1] : tensor<2x2x64xf32> into tensor<2x2x64x1xf32>
    %45 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %expanded_20 : tensor<2x2x64x64xf32>, tensor<2x2x64x1xf32>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %66 = arith.subf %in, %in_28 : f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<2x2x64x64xf32>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = math.exp %in : f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %47 = tensor.empty() : tensor<2x2x64x1xf32>
    %48 = linalg.fill ins(%cst : f32) outs(%47 : tensor<2x2x64x1xf32>) -> tensor<2x2x64x1xf32>
    %49 = linalg.generic {indexing_maps = [#map3, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%46 : tensor<2x2x64x64xf32>) outs(%48 : tensor<2x2x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %66 = arith.addf %in, %out : f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x1xf32>
    %50 = linalg.generic {indexing_maps = [#map3, #map9, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%46, %49 : tensor<2x2x64x64xf32>, tensor<2x2x64x1xf32>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %66 = arith.divf %in, %in_28 : f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %51 = tensor.empty() : tensor<2x2x64x64xi1>
    %52 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<2x2x64x64xf32>) outs(%51 : tensor<2x2x64x64xi1>) {
    ^bb0(%in: f32, %out: i1):
      %66 = arith.extf %in : f32 to f64
      %67 = arith.cmpf oeq, %66, %cst_5 : f64
      linalg.yield %67 : i1
    } -> tensor<2x2x64x64xi1>
    %53 = tensor.empty() : tensor<2x2x64x1xi1>
    %54 = linalg.fill ins(%true : i1) outs(%53 : tensor<2x2x64x1xi1>) -> tensor<2x2x64x1xi1>
    %55 = linalg.generic {indexing_maps = [#map3, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%52 : tensor<2x2x64x64xi1>) outs(%54 : tensor<2x2x64x1xi1>) {
    ^bb0(%in: i1, %out: i1):
      %66 = arith.andi %in, %out : i1
      linalg.yield %66 : i1
    } -> tensor<2x2x64x1xi1>
    %56 = linalg.generic {indexing_maps = [#map9, #map3, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%55, %cst_1, %50 : tensor<2x2x64x1xi1>, tensor<2x2x64x64xf32>, tensor<2x2x64x64xf32>) outs(%21 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: i1, %in_28: f32, %in_29: f32, %out: f32):
      %66 = arith.select %in, %in_28, %in_29 : f32
      linalg.yield %66 : f32
    } -> tensor<2x2x64x64xf32>
    %collapsed_21 = tensor.collapse_shape %56 [[0, 1], [2], [3]] : tensor<2x2x64x64xf32> into tensor<4x64x64xf32>
    %collapsed_22 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x2x64x64xf32> into tensor<4x64x64xf32>
    %57 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<4x64x64xf32>, tensor<4x64x64xf32>) outs(%37 : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
    %expanded_23 = tensor.expand_shape %57 [[0, 1], [2], [3]] output_shape [2, 2, 64, 64] : tensor<4x64x64xf32> into tensor<2x2x64x64xf32>
    %58 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_23 : tensor<2x2x64x64xf32>) outs(%10 : tensor<2x2x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %66 = arith.truncf %in : f32 to bf16
      linalg.yield %66 : bf16
    } -> tensor<2x2x64x64xbf16>
    %59 = tensor.empty() : tensor<2x64x2x64xbf16>
    %transposed_24 = linalg.transpose ins(%58 : tensor<2x2x64x64xbf16>) outs(%59 : tensor<2x64x2x64xbf16>) permutation = [0, 2, 1, 3]
    %collapsed_25 = tensor.collapse_shape %transposed_24 [[0, 1], [2, 3]] : tensor<2x64x2x64xbf16> into tensor<128x128xbf16>
    %transposed_26 = linalg.transpose ins(%arg6 : tensor<128x128xbf16>) outs(%0 : tensor<128x128xbf16>) permutation = [1, 0]
    %60 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%arg7 : tensor<128xbf16>) outs(%1 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128xf32>
    %61 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%collapsed_25 : tensor<128x128xbf16>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %62 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%transposed_26 : tensor<128x128xbf16>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %66 = arith.extf %in : bf16 to f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %63 = linalg.matmul ins(%61, %62 : tensor<128x128xf32>, tensor<128x128xf32>) outs(%6 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %64 = linalg.generic {indexing_maps = [#map1, #map2, #map1], iterator_types = ["parallel", "parallel"]} ins(%63, %60 : tensor<128x128xf32>, tensor<128xf32>) outs(%3 : tensor<128x128xf32>) {
    ^bb0(%in: f32, %in_28: f32, %out: f32):
      %66 = arith.addf %in, %in_28 : f32
      linalg.yield %66 : f32
    } -> tensor<128x128xf32>
    %65 = linalg.generic {indexing_maps = [#map1, #map1], iterator_types = ["parallel", "parallel"]} ins(%64 : tensor<128x128xf32>) outs(%0 : tensor<128x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %66 = arith.truncf %in : f32 to bf16
      linalg.yield %66 : bf16
    } -> tensor<128x128xbf16>
    %expanded_27 = tensor.expand_shape %65 [[0, 1], [2]] output_shape [2, 64, 128] : tensor<128x128xbf16> into tensor<2x64x128xbf16>
    return %expanded_27 : tensor<2x64x128xbf16>
  }
}
