// jax 0.10.2, torch-mlir 20261001
#map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d1, d3, d5)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d4, d1, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> ()>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map5 = affine_map<(d0, d1, d2, d3) -> ()>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1) -> (d0, d1)>
#map9 = affine_map<(d0, d1) -> (d1)>
#map10 = affine_map<(d0, d1) -> ()>
#map11 = affine_map<(d0, d1) -> (d0, 0)>
#map12 = affine_map<(d0, d1) -> (0, d1)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#map14 = affine_map<(d0, d1, d2, d3) -> (0, 0, d2, d3)>
#map15 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d4)>
#map16 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d2, d3, d0, d4)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, 0)>
#map19 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d5, d1, d2)>
#map20 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d4, d5)>
#map21 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4, d0, d2)>
#map22 = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2, d4)>
module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x64x4x64xbf16>, %arg1: tensor<2x64x2x64xbf16>, %arg2: tensor<2x64x2x64xbf16>) -> (tensor<2x64x4x64xbf16> {jax.result_info = "result"}) {
    %cst = arith.constant 0.000000e+00 : bf16
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %cst_2 = arith.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = arith.constant dense<-2.38197633E+38> : tensor<f32>
    %cst_4 = arith.constant dense<0> : tensor<i32>
    %cst_5 = arith.constant dense<16> : tensor<i32>
    %cst_6 = arith.constant dense<true> : tensor<i1>
    %cst_7 = arith.constant dense<1.250000e-01> : tensor<f32>
    %cst_8 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63]> : tensor<64xi32>
    %expanded = tensor.expand_shape %arg0 [[0], [1], [2, 3], [4]] output_shape [2, 64, 2, 2, 64] : tensor<2x64x4x64xbf16> into tensor<2x64x2x2x64xbf16>
    %0 = tensor.empty() : tensor<2x2x64x2x64xf32>
    %1 = linalg.fill ins(%cst_1 : f32) outs(%0 : tensor<2x2x64x2x64xf32>) -> tensor<2x2x64x2x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%expanded, %arg1 : tensor<2x64x2x2x64xbf16>, tensor<2x64x2x64xbf16>) outs(%1 : tensor<2x2x64x2x64xf32>) {
    ^bb0(%in: bf16, %in_9: bf16, %out: f32):
      %58 = arith.extf %in : bf16 to f32
      %59 = arith.extf %in_9 : bf16 to f32
      %60 = arith.mulf %58, %59 : f32
      %61 = arith.addf %out, %60 : f32
      linalg.yield %61 : f32
    } -> tensor<2x2x64x2x64xf32>
    %3 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%cst_7 : tensor<f32>) outs(%0 : tensor<2x2x64x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x64x2x64xf32>
    %4 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%2, %3 : tensor<2x2x64x2x64xf32>, tensor<2x2x64x2x64xf32>) outs(%0 : tensor<2x2x64x2x64xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.mulf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x64x2x64xf32>
    %5 = tensor.empty() : tensor<2x2x64x64xi1>
    %6 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_6 : tensor<i1>) outs(%5 : tensor<2x2x64x64xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x64x64xi1>
    %7 = tensor.empty() : tensor<64x1xi32>
    %8 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel"]} ins(%cst_8 : tensor<64xi32>) outs(%7 : tensor<64x1xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<64x1xi32>
    %9 = tensor.empty() : tensor<1x64xi32>
    %10 = linalg.generic {indexing_maps = [#map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%cst_8 : tensor<64xi32>) outs(%9 : tensor<1x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x64xi32>
    %11 = linalg.generic {indexing_maps = [#map10, #map8], iterator_types = ["parallel", "parallel"]} ins(%cst_5 : tensor<i32>) outs(%9 : tensor<1x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x64xi32>
    %12 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%10, %11 : tensor<1x64xi32>, tensor<1x64xi32>) outs(%9 : tensor<1x64xi32>) {
    ^bb0(%in: i32, %in_9: i32, %out: i32):
      %58 = arith.addi %in, %in_9 : i32
      linalg.yield %58 : i32
    } -> tensor<1x64xi32>
    %13 = tensor.empty() : tensor<64x64xi32>
    %14 = linalg.generic {indexing_maps = [#map11, #map8], iterator_types = ["parallel", "parallel"]} ins(%8 : tensor<64x1xi32>) outs(%13 : tensor<64x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<64x64xi32>
    %15 = linalg.generic {indexing_maps = [#map12, #map8], iterator_types = ["parallel", "parallel"]} ins(%12 : tensor<1x64xi32>) outs(%13 : tensor<64x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<64x64xi32>
    %16 = tensor.empty() : tensor<64x64xi1>
    %17 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%14, %15 : tensor<64x64xi32>, tensor<64x64xi32>) outs(%16 : tensor<64x64xi1>) {
    ^bb0(%in: i32, %in_9: i32, %out: i1):
      %58 = arith.cmpi sle, %in, %in_9 : i32
      linalg.yield %58 : i1
    } -> tensor<64x64xi1>
    %18 = linalg.generic {indexing_maps = [#map10, #map8], iterator_types = ["parallel", "parallel"]} ins(%cst_4 : tensor<i32>) outs(%9 : tensor<1x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<1x64xi32>
    %19 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%10, %18 : tensor<1x64xi32>, tensor<1x64xi32>) outs(%9 : tensor<1x64xi32>) {
    ^bb0(%in: i32, %in_9: i32, %out: i32):
      %58 = arith.subi %in, %in_9 : i32
      linalg.yield %58 : i32
    } -> tensor<1x64xi32>
    %20 = linalg.generic {indexing_maps = [#map12, #map8], iterator_types = ["parallel", "parallel"]} ins(%19 : tensor<1x64xi32>) outs(%13 : tensor<64x64xi32>) {
    ^bb0(%in: i32, %out: i32):
      linalg.yield %in : i32
    } -> tensor<64x64xi32>
    %21 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%14, %20 : tensor<64x64xi32>, tensor<64x64xi32>) outs(%16 : tensor<64x64xi1>) {
    ^bb0(%in: i32, %in_9: i32, %out: i1):
      %58 = arith.cmpi sge, %in, %in_9 : i32
      linalg.yield %58 : i1
    } -> tensor<64x64xi1>
    %22 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%21, %17 : tensor<64x64xi1>, tensor<64x64xi1>) outs(%16 : tensor<64x64xi1>) {
    ^bb0(%in: i1, %in_9: i1, %out: i1):
      %58 = arith.andi %in, %in_9 : i1
      linalg.yield %58 : i1
    } -> tensor<64x64xi1>
    %23 = tensor.empty() : tensor<1x1x64x64xi1>
    %24 = linalg.generic {indexing_maps = [#map13, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%22 : tensor<64x64xi1>) outs(%23 : tensor<1x1x64x64xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<1x1x64x64xi1>
    %25 = linalg.generic {indexing_maps = [#map14, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24 : tensor<1x1x64x64xi1>) outs(%5 : tensor<2x2x64x64xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x64x64xi1>
    %26 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6, %25 : tensor<2x2x64x64xi1>, tensor<2x2x64x64xi1>) outs(%5 : tensor<2x2x64x64xi1>) {
    ^bb0(%in: i1, %in_9: i1, %out: i1):
      %58 = arith.andi %in, %in_9 : i1
      linalg.yield %58 : i1
    } -> tensor<2x2x64x64xi1>
    %27 = tensor.empty() : tensor<2x2x64x64xf32>
    %28 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_3 : tensor<f32>) outs(%27 : tensor<2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x64x64xf32>
    %29 = tensor.empty() : tensor<2x2x2x64x64xi1>
    %30 = linalg.generic {indexing_maps = [#map15, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%26 : tensor<2x2x64x64xi1>) outs(%29 : tensor<2x2x2x64x64xi1>) {
    ^bb0(%in: i1, %out: i1):
      linalg.yield %in : i1
    } -> tensor<2x2x2x64x64xi1>
    %31 = tensor.empty() : tensor<2x2x2x64x64xf32>
    %32 = linalg.generic {indexing_maps = [#map15, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%28 : tensor<2x2x64x64xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x64x64xf32>
    %33 = linalg.generic {indexing_maps = [#map16, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%4 : tensor<2x2x64x2x64xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x64x64xf32>
    %34 = linalg.generic {indexing_maps = [#map4, #map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%30, %33, %32 : tensor<2x2x2x64x64xi1>, tensor<2x2x2x64x64xf32>, tensor<2x2x2x64x64xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: i1, %in_9: f32, %in_10: f32, %out: f32):
      %58 = arith.select %in, %in_9, %in_10 : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x64x64xf32>
    %35 = tensor.empty() : tensor<2x2x2x64xf32>
    %36 = linalg.fill ins(%cst_0 : f32) outs(%35 : tensor<2x2x2x64xf32>) -> tensor<2x2x2x64xf32>
    %37 = linalg.generic {indexing_maps = [#map4, #map17], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%34 : tensor<2x2x2x64x64xf32>) outs(%36 : tensor<2x2x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = arith.maximumf %out, %in : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x64xf32>
    %38 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%cst_2 : tensor<f32>) outs(%35 : tensor<2x2x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x64xf32>
    %39 = linalg.generic {indexing_maps = [#map6, #map6, #map6], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%38, %37 : tensor<2x2x2x64xf32>, tensor<2x2x2x64xf32>) outs(%35 : tensor<2x2x2x64xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.maximumf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x64xf32>
    %40 = tensor.empty() : tensor<2x2x2x64x1xf32>
    %41 = linalg.generic {indexing_maps = [#map17, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%39 : tensor<2x2x2x64xf32>) outs(%40 : tensor<2x2x2x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x64x1xf32>
    %42 = linalg.generic {indexing_maps = [#map18, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%41 : tensor<2x2x2x64x1xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x64x64xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%34, %42 : tensor<2x2x2x64x64xf32>, tensor<2x2x2x64x64xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.subf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x64x64xf32>
    %44 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%43 : tensor<2x2x2x64x64xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = math.exp %in : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x64x64xf32>
    %45 = linalg.fill ins(%cst_1 : f32) outs(%35 : tensor<2x2x2x64xf32>) -> tensor<2x2x2x64xf32>
    %46 = linalg.generic {indexing_maps = [#map4, #map17], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%44 : tensor<2x2x2x64x64xf32>) outs(%45 : tensor<2x2x2x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      %58 = arith.addf %out, %in : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x64xf32>
    %47 = linalg.generic {indexing_maps = [#map17, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%46 : tensor<2x2x2x64xf32>) outs(%40 : tensor<2x2x2x64x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x64x1xf32>
    %48 = linalg.generic {indexing_maps = [#map18, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%47 : tensor<2x2x2x64x1xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<2x2x2x64x64xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%44, %48 : tensor<2x2x2x64x64xf32>, tensor<2x2x2x64x64xf32>) outs(%31 : tensor<2x2x2x64x64xf32>) {
    ^bb0(%in: f32, %in_9: f32, %out: f32):
      %58 = arith.divf %in, %in_9 : f32
      linalg.yield %58 : f32
    } -> tensor<2x2x2x64x64xf32>
    %50 = tensor.empty() : tensor<2x2x2x64x64xbf16>
    %51 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%49 : tensor<2x2x2x64x64xf32>) outs(%50 : tensor<2x2x2x64x64xbf16>) {
    ^bb0(%in: f32, %out: bf16):
      %58 = arith.truncf %in : f32 to bf16
      linalg.yield %58 : bf16
    } -> tensor<2x2x2x64x64xbf16>
    %52 = tensor.empty() : tensor<2x2x64x2x64xbf16>
    %53 = linalg.fill ins(%cst : bf16) outs(%52 : tensor<2x2x64x2x64xbf16>) -> tensor<2x2x64x2x64xbf16>
    %54 = linalg.generic {indexing_maps = [#map19, #map20, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg2, %51 : tensor<2x64x2x64xbf16>, tensor<2x2x2x64x64xbf16>) outs(%53 : tensor<2x2x64x2x64xbf16>) {
    ^bb0(%in: bf16, %in_9: bf16, %out: bf16):
      %58 = arith.mulf %in, %in_9 : bf16
      %59 = arith.addf %out, %58 : bf16
      linalg.yield %59 : bf16
    } -> tensor<2x2x64x2x64xbf16>
    %55 = linalg.generic {indexing_maps = [#map21, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%54 : tensor<2x2x64x2x64xbf16>) outs(%52 : tensor<2x2x64x2x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x2x64x2x64xbf16>
    %56 = tensor.empty() : tensor<2x64x2x2x64xbf16>
    %57 = linalg.generic {indexing_maps = [#map22, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%55 : tensor<2x2x64x2x64xbf16>) outs(%56 : tensor<2x64x2x2x64xbf16>) {
    ^bb0(%in: bf16, %out: bf16):
      linalg.yield %in : bf16
    } -> tensor<2x64x2x2x64xbf16>
    %collapsed = tensor.collapse_shape %57 [[0], [1], [2, 3], [4]] : tensor<2x64x2x2x64xbf16> into tensor<2x64x4x64xbf16>
    return %collapsed : tensor<2x64x4x64xbf16>
  }
}
