// torch 2.13.0+cpu, torch-mlir 20261001
#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0, d1, 0)>
#map2 = affine_map<(d0, d1, d2) -> (d2)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<()[s0] -> (s0 * 64)>
#map5 = affine_map<(d0, d1) -> (d0, d1)>
#map6 = affine_map<(d0, d1) -> (d1)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map8 = affine_map<()[s0] -> (s0 * 2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>
module {
  func.func @main(%arg0: tensor<64xbf16>, %arg1: tensor<64xbf16>, %arg2: tensor<64xbf16>, %arg3: tensor<64xbf16>, %arg4: tensor<192x64xbf16>, %arg5: tensor<192xbf16>, %arg6: tensor<64x64xbf16>, %arg7: tensor<64xbf16>, %arg8: tensor<128x64xbf16>, %arg9: tensor<128xbf16>, %arg10: tensor<64x128xbf16>, %arg11: tensor<64xbf16>, %arg12: tensor<?x64x64xbf16>) -> tensor<?x64x64xbf16> {
    %c3_i64 = arith.constant 3 : i64
    %c0_i64 = arith.constant 0 : i64
    %c1 = arith.constant 1 : index
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
    %0 = arith.index_cast %dim : index to i64
    %1 = tensor.empty(%dim) : tensor<?x64x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12 : tensor<?x64x64xbf16>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<?x64x64xf32>
    %3 = tensor.empty(%dim) : tensor<?x64x64xf64>
    %4 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<?x64x64xf32>) outs(%3 : tensor<?x64x64xf64>) {
    ^bb0(%in: f32, %out: f64):
      %144 = arith.extf %in : f32 to f64
      linalg.yield %144 : f64
    } -> tensor<?x64x64xf64>
    %5 = tensor.empty(%dim) : tensor<?x64x1xf64>
    %6 = linalg.fill ins(%cst : f64) outs(%5 : tensor<?x64x1xf64>) -> tensor<?x64x1xf64>
    %7 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%4 : tensor<?x64x64xf64>) outs(%6 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.addf %in, %out : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %8 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<?x64x1xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.divf %in, %cst_8 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %9 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%4, %8 : tensor<?x64x64xf64>, tensor<?x64x1xf64>) outs(%3 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_34: f64, %out: f64):
      %144 = arith.subf %in, %in_34 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x64xf64>
    %10 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %9 : tensor<?x64x64xf64>, tensor<?x64x64xf64>) outs(%3 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_34: f64, %out: f64):
      %144 = arith.mulf %in, %in_34 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x64xf64>
    %11 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%10 : tensor<?x64x64xf64>) outs(%6 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.addf %in, %out : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %12 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11 : tensor<?x64x1xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.divf %in, %cst_8 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %13 = tensor.empty(%dim) : tensor<?x64x1xf32>
    %14 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%12 : tensor<?x64x1xf64>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %144 = arith.truncf %in : f64 to f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %15 = linalg.fill ins(%cst_0 : f32) outs(%13 : tensor<?x64x1xf32>) -> tensor<?x64x1xf32>
    %16 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%2 : tensor<?x64x64xf32>) outs(%15 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = arith.addf %in, %out : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %17 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16 : tensor<?x64x1xf32>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = arith.divf %in, %cst_9 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %18 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14 : tensor<?x64x1xf32>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = arith.truncf %cst_7 : f64 to f32
      %145 = arith.addf %in, %144 : f32
      linalg.yield %145 : f32
    } -> tensor<?x64x1xf32>
    %19 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%18 : tensor<?x64x1xf32>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = math.rsqrt %in : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %17 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.subf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x64xf32>
    %21 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%20, %19 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.mulf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x64xf32>
    %22 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %arg0 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: bf16, %out: f32):
      %144 = arith.extf %in_34 : bf16 to f32
      %145 = arith.mulf %in, %144 : f32
      linalg.yield %145 : f32
    } -> tensor<?x64x64xf32>
    %23 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%22, %arg1 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: bf16, %out: f32):
      %144 = arith.extf %in_34 : bf16 to f32
      %145 = arith.addf %in, %144 : f32
      linalg.yield %145 : f32
    } -> tensor<?x64x64xf32>
    %24 = tensor.empty(%dim) : tensor<?x64x64xbf16>
    %25 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23 : tensor<?x64x64xf32>) outs(%24 : tensor<?x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64x64xbf16>
    %collapsed = tensor.collapse_shape %25 [[0, 1], [2]] : tensor<?x64x64xbf16> into tensor<?x64xbf16>
    %26 = tensor.empty() : tensor<64x192xbf16>
    %transposed = linalg.transpose ins(%arg4 : tensor<192x64xbf16>) outs(%26 : tensor<64x192xbf16>) permutation = [1, 0]
    %27 = tensor.empty() : tensor<192xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg5 : tensor<192xbf16>) outs(%27 : tensor<192xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<192xf32>
    %29 = affine.apply #map4()[%dim]
    %30 = tensor.empty(%29) : tensor<?x64xf32>
    %31 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed : tensor<?x64xbf16>) outs(%30 : tensor<?x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<?x64xf32>
    %32 = tensor.empty() : tensor<64x192xf32>
    %33 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed : tensor<64x192xbf16>) outs(%32 : tensor<64x192xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<64x192xf32>
    %34 = tensor.empty(%29) : tensor<?x192xf32>
    %35 = linalg.fill ins(%cst_0 : f32) outs(%34 : tensor<?x192xf32>) -> tensor<?x192xf32>
    %36 = linalg.matmul ins(%31, %33 : tensor<?x64xf32>, tensor<64x192xf32>) outs(%35 : tensor<?x192xf32>) -> tensor<?x192xf32>
    %37 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%36, %28 : tensor<?x192xf32>, tensor<192xf32>) outs(%34 : tensor<?x192xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.addf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x192xf32>
    %38 = tensor.empty(%29) : tensor<?x192xbf16>
    %39 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%37 : tensor<?x192xf32>) outs(%38 : tensor<?x192xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x192xbf16>
    %40 = arith.divsi %29, %c64 : index
    %expanded = tensor.expand_shape %39 [[0, 1], [2, 3, 4]] output_shape [%40, 64, 3, 2, 32] : tensor<?x192xbf16> into tensor<?x64x3x2x32xbf16>
    %41 = tensor.empty(%40) : tensor<3x?x2x64x32xbf16>
    %transposed_10 = linalg.transpose ins(%expanded : tensor<?x64x3x2x32xbf16>) outs(%41 : tensor<3x?x2x64x32xbf16>) permutation = [2, 0, 3, 1, 4]
    %extracted_slice = tensor.extract_slice %transposed_10[0, 0, 0, 0, 0] [1, %40, 2, 64, 32] [1, 1, 1, 1, 1] : tensor<3x?x2x64x32xbf16> to tensor<1x?x2x64x32xbf16>
    %extracted_slice_11 = tensor.extract_slice %transposed_10[1, 0, 0, 0, 0] [1, %40, 2, 64, 32] [1, 1, 1, 1, 1] : tensor<3x?x2x64x32xbf16> to tensor<1x?x2x64x32xbf16>
    %extracted_slice_12 = tensor.extract_slice %transposed_10[2, 0, 0, 0, 0] [1, %40, 2, 64, 32] [1, 1, 1, 1, 1] : tensor<3x?x2x64x32xbf16> to tensor<1x?x2x64x32xbf16>
    %collapsed_13 = tensor.collapse_shape %extracted_slice [[0, 1], [2], [3], [4]] : tensor<1x?x2x64x32xbf16> into tensor<?x2x64x32xbf16>
    %collapsed_14 = tensor.collapse_shape %extracted_slice_11 [[0, 1], [2], [3], [4]] : tensor<1x?x2x64x32xbf16> into tensor<?x2x64x32xbf16>
    %collapsed_15 = tensor.collapse_shape %extracted_slice_12 [[0, 1], [2], [3], [4]] : tensor<1x?x2x64x32xbf16> into tensor<?x2x64x32xbf16>
    %42 = tensor.empty(%40) : tensor<?x2x32x64xbf16>
    %transposed_16 = linalg.transpose ins(%collapsed_14 : tensor<?x2x64x32xbf16>) outs(%42 : tensor<?x2x32x64xbf16>) permutation = [0, 1, 3, 2]
    %43 = arith.cmpi sge, %0, %c0_i64 : i64
    cf.assert %43, "unimplemented: dynamic negative broadcast sizes"
    %44 = tensor.empty(%dim) : tensor<?x2x64x32xbf16>
    %45 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%44 : tensor<?x2x64x32xbf16>) {
    ^bb0(%out: bf16):
      %144 = linalg.index 0 : index
      %145 = linalg.index 1 : index
      %146 = linalg.index 2 : index
      %147 = linalg.index 3 : index
      %148 = arith.cmpi eq, %40, %c1 : index
      %149 = arith.select %148, %c0, %144 : index
      %extracted = tensor.extract %collapsed_13[%149, %145, %146, %147] : tensor<?x2x64x32xbf16>
      linalg.yield %extracted : bf16
    } -> tensor<?x2x64x32xbf16>
    %collapsed_17 = tensor.collapse_shape %45 [[0, 1], [2], [3]] : tensor<?x2x64x32xbf16> into tensor<?x64x32xbf16>
    cf.assert %43, "unimplemented: dynamic negative broadcast sizes"
    %46 = tensor.empty(%dim) : tensor<?x2x32x64xbf16>
    %47 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%46 : tensor<?x2x32x64xbf16>) {
    ^bb0(%out: bf16):
      %144 = linalg.index 0 : index
      %145 = linalg.index 1 : index
      %146 = linalg.index 2 : index
      %147 = linalg.index 3 : index
      %148 = arith.cmpi eq, %40, %c1 : index
      %149 = arith.select %148, %c0, %144 : index
      %extracted = tensor.extract %transposed_16[%149, %145, %146, %147] : tensor<?x2x32x64xbf16>
      linalg.yield %extracted : bf16
    } -> tensor<?x2x32x64xbf16>
    %collapsed_18 = tensor.collapse_shape %47 [[0, 1], [2], [3]] : tensor<?x2x32x64xbf16> into tensor<?x32x64xbf16>
    %48 = affine.apply #map8()[%dim]
    %49 = tensor.empty(%48) : tensor<?x64x64xf32>
    %50 = linalg.fill ins(%cst_0 : f32) outs(%49 : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    %51 = linalg.batch_matmul ins(%collapsed_17, %collapsed_18 : tensor<?x64x32xbf16>, tensor<?x32x64xbf16>) outs(%50 : tensor<?x64x64xf32>) -> tensor<?x64x64xf32>
    %52 = tensor.empty(%48) : tensor<?x64x64xbf16>
    %53 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51 : tensor<?x64x64xf32>) outs(%52 : tensor<?x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64x64xbf16>
    %54 = arith.divsi %48, %c2 : index
    %expanded_19 = tensor.expand_shape %53 [[0, 1], [2], [3]] output_shape [%54, 2, 64, 64] : tensor<?x64x64xbf16> into tensor<?x2x64x64xbf16>
    %55 = tensor.empty(%54) : tensor<?x2x64x64xbf16>
    %56 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_19 : tensor<?x2x64x64xbf16>) outs(%55 : tensor<?x2x64x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %144 = arith.truncf %cst_6 : f64 to bf16
      %145 = arith.mulf %in, %144 : bf16
      linalg.yield %145 : bf16
    } -> tensor<?x2x64x64xbf16>
    %57 = tensor.empty(%54) : tensor<?x2x64x64xf32>
    %58 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%56 : tensor<?x2x64x64xbf16>) outs(%57 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<?x2x64x64xf32>
    %59 = tensor.empty(%54) : tensor<?x2x64xi64>
    %60 = linalg.fill ins(%c0_i64 : i64) outs(%59 : tensor<?x2x64xi64>) -> tensor<?x2x64xi64>
    %61 = tensor.empty(%54) : tensor<?x2x64xf32>
    %62 = linalg.fill ins(%cst_1 : f32) outs(%61 : tensor<?x2x64xf32>) -> tensor<?x2x64xf32>
    %63:2 = linalg.generic {indexing_maps = [#map7, #map9, #map9], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%58 : tensor<?x2x64x64xf32>) outs(%62, %60 : tensor<?x2x64xf32>, tensor<?x2x64xi64>) {
    ^bb0(%in: f32, %out: f32, %out_34: i64):
      %144 = linalg.index 3 : index
      %145 = arith.index_cast %144 : index to i64
      %146 = arith.maximumf %in, %out : f32
      %147 = arith.cmpf ogt, %in, %out : f32
      %148 = arith.select %147, %145, %out_34 : i64
      linalg.yield %146, %148 : f32, i64
    } -> (tensor<?x2x64xf32>, tensor<?x2x64xi64>)
    %expanded_20 = tensor.expand_shape %63#0 [[0], [1], [2, 3]] output_shape [%54, 2, 64, 1] : tensor<?x2x64xf32> into tensor<?x2x64x1xf32>
    %64 = linalg.generic {indexing_maps = [#map7, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%58, %expanded_20 : tensor<?x2x64x64xf32>, tensor<?x2x64x1xf32>) outs(%57 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.subf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x2x64x64xf32>
    %65 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%64 : tensor<?x2x64x64xf32>) outs(%57 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = math.exp %in : f32
      linalg.yield %144 : f32
    } -> tensor<?x2x64x64xf32>
    %66 = tensor.empty(%54) : tensor<?x2x64x1xf32>
    %67 = linalg.fill ins(%cst_0 : f32) outs(%66 : tensor<?x2x64x1xf32>) -> tensor<?x2x64x1xf32>
    %68 = linalg.generic {indexing_maps = [#map7, #map10], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%65 : tensor<?x2x64x64xf32>) outs(%67 : tensor<?x2x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = arith.addf %in, %out : f32
      linalg.yield %144 : f32
    } -> tensor<?x2x64x1xf32>
    %69 = linalg.generic {indexing_maps = [#map7, #map10, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%65, %68 : tensor<?x2x64x64xf32>, tensor<?x2x64x1xf32>) outs(%57 : tensor<?x2x64x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.divf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x2x64x64xf32>
    %70 = linalg.generic {indexing_maps = [#map7, #map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%69 : tensor<?x2x64x64xf32>) outs(%55 : tensor<?x2x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x2x64x64xbf16>
    cf.assert %43, "unimplemented: dynamic negative broadcast sizes"
    %71 = tensor.empty(%dim) : tensor<?x2x64x64xbf16>
    %72 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%71 : tensor<?x2x64x64xbf16>) {
    ^bb0(%out: bf16):
      %144 = linalg.index 0 : index
      %145 = linalg.index 1 : index
      %146 = linalg.index 2 : index
      %147 = linalg.index 3 : index
      %148 = arith.cmpi eq, %54, %c1 : index
      %149 = arith.select %148, %c0, %144 : index
      %extracted = tensor.extract %70[%149, %145, %146, %147] : tensor<?x2x64x64xbf16>
      linalg.yield %extracted : bf16
    } -> tensor<?x2x64x64xbf16>
    %collapsed_21 = tensor.collapse_shape %72 [[0, 1], [2], [3]] : tensor<?x2x64x64xbf16> into tensor<?x64x64xbf16>
    cf.assert %43, "unimplemented: dynamic negative broadcast sizes"
    %73 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%44 : tensor<?x2x64x32xbf16>) {
    ^bb0(%out: bf16):
      %144 = linalg.index 0 : index
      %145 = linalg.index 1 : index
      %146 = linalg.index 2 : index
      %147 = linalg.index 3 : index
      %148 = arith.cmpi eq, %40, %c1 : index
      %149 = arith.select %148, %c0, %144 : index
      %extracted = tensor.extract %collapsed_15[%149, %145, %146, %147] : tensor<?x2x64x32xbf16>
      linalg.yield %extracted : bf16
    } -> tensor<?x2x64x32xbf16>
    %collapsed_22 = tensor.collapse_shape %73 [[0, 1], [2], [3]] : tensor<?x2x64x32xbf16> into tensor<?x64x32xbf16>
    %74 = tensor.empty(%48) : tensor<?x64x32xf32>
    %75 = linalg.fill ins(%cst_0 : f32) outs(%74 : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
    %76 = linalg.batch_matmul ins(%collapsed_21, %collapsed_22 : tensor<?x64x64xbf16>, tensor<?x64x32xbf16>) outs(%75 : tensor<?x64x32xf32>) -> tensor<?x64x32xf32>
    %77 = tensor.empty(%48) : tensor<?x64x32xbf16>
    %78 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%76 : tensor<?x64x32xf32>) outs(%77 : tensor<?x64x32xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64x32xbf16>
    %expanded_23 = tensor.expand_shape %78 [[0, 1], [2], [3]] output_shape [%54, 2, 64, 32] : tensor<?x64x32xbf16> into tensor<?x2x64x32xbf16>
    %79 = tensor.empty(%54) : tensor<?x64x2x32xbf16>
    %transposed_24 = linalg.transpose ins(%expanded_23 : tensor<?x2x64x32xbf16>) outs(%79 : tensor<?x64x2x32xbf16>) permutation = [0, 2, 1, 3]
    %collapsed_25 = tensor.collapse_shape %transposed_24 [[0, 1], [2, 3]] : tensor<?x64x2x32xbf16> into tensor<?x64xbf16>
    %80 = tensor.empty() : tensor<64x64xbf16>
    %transposed_26 = linalg.transpose ins(%arg6 : tensor<64x64xbf16>) outs(%80 : tensor<64x64xbf16>) permutation = [1, 0]
    %81 = tensor.empty() : tensor<64xf32>
    %82 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg7 : tensor<64xbf16>) outs(%81 : tensor<64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<64xf32>
    %83 = affine.apply #map4()[%54]
    %84 = tensor.empty(%83) : tensor<?x64xf32>
    %85 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed_25 : tensor<?x64xbf16>) outs(%84 : tensor<?x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<?x64xf32>
    %86 = tensor.empty() : tensor<64x64xf32>
    %87 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed_26 : tensor<64x64xbf16>) outs(%86 : tensor<64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<64x64xf32>
    %88 = linalg.fill ins(%cst_0 : f32) outs(%84 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %89 = linalg.matmul ins(%85, %87 : tensor<?x64xf32>, tensor<64x64xf32>) outs(%88 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %90 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%89, %82 : tensor<?x64xf32>, tensor<64xf32>) outs(%84 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.addf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64xf32>
    %91 = tensor.empty(%83) : tensor<?x64xbf16>
    %92 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%90 : tensor<?x64xf32>) outs(%91 : tensor<?x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64xbf16>
    %93 = arith.divsi %83, %c64 : index
    %expanded_27 = tensor.expand_shape %92 [[0, 1], [2]] output_shape [%93, 64, 64] : tensor<?x64xbf16> into tensor<?x64x64xbf16>
    %94 = arith.cmpi eq, %dim, %93 : index
    cf.assert %94, "mismatched size for broadcast"
    %95 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%arg12, %expanded_27 : tensor<?x64x64xbf16>, tensor<?x64x64xbf16>) outs(%24 : tensor<?x64x64xbf16>) {
    ^bb0(%in: bf16, %in_34: bf16, %out: bf16):
      %144 = arith.addf %in, %in_34 : bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64x64xbf16>
    %96 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95 : tensor<?x64x64xbf16>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<?x64x64xf32>
    %97 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96 : tensor<?x64x64xf32>) outs(%3 : tensor<?x64x64xf64>) {
    ^bb0(%in: f32, %out: f64):
      %144 = arith.extf %in : f32 to f64
      linalg.yield %144 : f64
    } -> tensor<?x64x64xf64>
    %98 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%97 : tensor<?x64x64xf64>) outs(%6 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.addf %in, %out : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %99 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%98 : tensor<?x64x1xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.divf %in, %cst_8 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %100 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%97, %99 : tensor<?x64x64xf64>, tensor<?x64x1xf64>) outs(%3 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_34: f64, %out: f64):
      %144 = arith.subf %in, %in_34 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x64xf64>
    %101 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%100, %100 : tensor<?x64x64xf64>, tensor<?x64x64xf64>) outs(%3 : tensor<?x64x64xf64>) {
    ^bb0(%in: f64, %in_34: f64, %out: f64):
      %144 = arith.mulf %in, %in_34 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x64xf64>
    %102 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%101 : tensor<?x64x64xf64>) outs(%6 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.addf %in, %out : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %103 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%102 : tensor<?x64x1xf64>) outs(%5 : tensor<?x64x1xf64>) {
    ^bb0(%in: f64, %out: f64):
      %144 = arith.divf %in, %cst_8 : f64
      linalg.yield %144 : f64
    } -> tensor<?x64x1xf64>
    %104 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%103 : tensor<?x64x1xf64>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f64, %out: f32):
      %144 = arith.truncf %in : f64 to f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %105 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "reduction"]} ins(%96 : tensor<?x64x64xf32>) outs(%15 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = arith.addf %in, %out : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %106 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%105 : tensor<?x64x1xf32>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = arith.divf %in, %cst_9 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %107 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%104 : tensor<?x64x1xf32>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = arith.truncf %cst_7 : f64 to f32
      %145 = arith.addf %in, %144 : f32
      linalg.yield %145 : f32
    } -> tensor<?x64x1xf32>
    %108 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%107 : tensor<?x64x1xf32>) outs(%13 : tensor<?x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %144 = math.rsqrt %in : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x1xf32>
    %109 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%96, %106 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.subf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x64xf32>
    %110 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%109, %108 : tensor<?x64x64xf32>, tensor<?x64x1xf32>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.mulf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64x64xf32>
    %111 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%110, %arg2 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: bf16, %out: f32):
      %144 = arith.extf %in_34 : bf16 to f32
      %145 = arith.mulf %in, %144 : f32
      linalg.yield %145 : f32
    } -> tensor<?x64x64xf32>
    %112 = linalg.generic {indexing_maps = [#map, #map2, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%111, %arg3 : tensor<?x64x64xf32>, tensor<64xbf16>) outs(%1 : tensor<?x64x64xf32>) {
    ^bb0(%in: f32, %in_34: bf16, %out: f32):
      %144 = arith.extf %in_34 : bf16 to f32
      %145 = arith.addf %in, %144 : f32
      linalg.yield %145 : f32
    } -> tensor<?x64x64xf32>
    %113 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%112 : tensor<?x64x64xf32>) outs(%24 : tensor<?x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64x64xbf16>
    %collapsed_28 = tensor.collapse_shape %113 [[0, 1], [2]] : tensor<?x64x64xbf16> into tensor<?x64xbf16>
    %114 = tensor.empty() : tensor<64x128xbf16>
    %transposed_29 = linalg.transpose ins(%arg8 : tensor<128x64xbf16>) outs(%114 : tensor<64x128xbf16>) permutation = [1, 0]
    %115 = tensor.empty() : tensor<128xf32>
    %116 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg9 : tensor<128xbf16>) outs(%115 : tensor<128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<128xf32>
    %117 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed_28 : tensor<?x64xbf16>) outs(%30 : tensor<?x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<?x64xf32>
    %118 = tensor.empty() : tensor<64x128xf32>
    %119 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed_29 : tensor<64x128xbf16>) outs(%118 : tensor<64x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<64x128xf32>
    %120 = tensor.empty(%29) : tensor<?x128xf32>
    %121 = linalg.fill ins(%cst_0 : f32) outs(%120 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %122 = linalg.matmul ins(%117, %119 : tensor<?x64xf32>, tensor<64x128xf32>) outs(%121 : tensor<?x128xf32>) -> tensor<?x128xf32>
    %123 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%122, %116 : tensor<?x128xf32>, tensor<128xf32>) outs(%120 : tensor<?x128xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.addf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x128xf32>
    %124 = tensor.empty(%29) : tensor<?x128xbf16>
    %125 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%123 : tensor<?x128xf32>) outs(%124 : tensor<?x128xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x128xbf16>
    %expanded_30 = tensor.expand_shape %125 [[0, 1], [2]] output_shape [%40, 64, 128] : tensor<?x128xbf16> into tensor<?x64x128xbf16>
    %126 = tensor.empty(%40) : tensor<?x64x128xbf16>
    %127 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_30 : tensor<?x64x128xbf16>) outs(%126 : tensor<?x64x128xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      %144 = math.fpowi %in, %c3_i64 : bf16, i64
      %145 = arith.mulf %144, %cst_2 : bf16
      %146 = arith.addf %in, %145 : bf16
      %147 = arith.mulf %146, %cst_3 : bf16
      %148 = math.tanh %147 : bf16
      %149 = arith.addf %148, %cst_4 : bf16
      %150 = arith.mulf %149, %cst_5 : bf16
      %151 = arith.mulf %in, %150 : bf16
      linalg.yield %151 : bf16
    } -> tensor<?x64x128xbf16>
    %collapsed_31 = tensor.collapse_shape %127 [[0, 1], [2]] : tensor<?x64x128xbf16> into tensor<?x128xbf16>
    %128 = tensor.empty() : tensor<128x64xbf16>
    %transposed_32 = linalg.transpose ins(%arg10 : tensor<64x128xbf16>) outs(%128 : tensor<128x64xbf16>) permutation = [1, 0]
    %129 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel"]} ins(%arg11 : tensor<64xbf16>) outs(%81 : tensor<64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<64xf32>
    %130 = affine.apply #map4()[%40]
    %131 = tensor.empty(%130) : tensor<?x128xf32>
    %132 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%collapsed_31 : tensor<?x128xbf16>) outs(%131 : tensor<?x128xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<?x128xf32>
    %133 = tensor.empty() : tensor<128x64xf32>
    %134 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%transposed_32 : tensor<128x64xbf16>) outs(%133 : tensor<128x64xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %144 = arith.extf %in : bf16 to f32
      linalg.yield %144 : f32
    } -> tensor<128x64xf32>
    %135 = tensor.empty(%130) : tensor<?x64xf32>
    %136 = linalg.fill ins(%cst_0 : f32) outs(%135 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %137 = linalg.matmul ins(%132, %134 : tensor<?x128xf32>, tensor<128x64xf32>) outs(%136 : tensor<?x64xf32>) -> tensor<?x64xf32>
    %138 = linalg.generic {indexing_maps = [#map5, #map6, #map5], iterator_types = ["parallel", "parallel"]} ins(%137, %129 : tensor<?x64xf32>, tensor<64xf32>) outs(%135 : tensor<?x64xf32>) {
    ^bb0(%in: f32, %in_34: f32, %out: f32):
      %144 = arith.addf %in, %in_34 : f32
      linalg.yield %144 : f32
    } -> tensor<?x64xf32>
    %139 = tensor.empty(%130) : tensor<?x64xbf16>
    %140 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel", "parallel"]} ins(%138 : tensor<?x64xf32>) outs(%139 : tensor<?x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %144 = arith.truncf %in : f32 to bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64xbf16>
    %141 = arith.divsi %130, %c64 : index
    %expanded_33 = tensor.expand_shape %140 [[0, 1], [2]] output_shape [%141, 64, 64] : tensor<?x64xbf16> into tensor<?x64x64xbf16>
    %142 = arith.cmpi eq, %dim, %141 : index
    cf.assert %142, "mismatched size for broadcast"
    %143 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel"]} ins(%95, %expanded_33 : tensor<?x64x64xbf16>, tensor<?x64x64xbf16>) outs(%24 : tensor<?x64x64xbf16>) {
    ^bb0(%in: bf16, %in_34: bf16, %out: bf16):
      %144 = arith.addf %in, %in_34 : bf16
      linalg.yield %144 : bf16
    } -> tensor<?x64x64xbf16>
    return %143 : tensor<?x64x64xbf16>
  }
}
