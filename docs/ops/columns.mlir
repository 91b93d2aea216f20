!half = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
%right = "smem.columns"(%d) {first = 32 : i64} : (!accumulator) -> !half
%to = memref.subview %D[0, 32] [64, 32] [1, 1] : memref<64x64xf32> to memref<64x32xf32, strided<[64, 1], offset: 32>>
"smem.store"(%right, %to) : (!half, memref<64x32xf32, strided<[64, 1], offset: 32>>) -> ()
