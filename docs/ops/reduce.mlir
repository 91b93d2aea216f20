!row = !smem.fragment<tensor<64xf32>, #smem.slice<1>>
%largest = "smem.reduce"(%d) {op = "maximumf", axis = 1 : i32} : (!accumulator) -> !row
%to = memref.subview %D[0, 0] [64, 1] [1, 1] : memref<64x64xf32> to memref<64xf32, strided<[64]>>
"smem.store"(%largest, %to) : (!row, memref<64xf32, strided<[64]>>) -> ()
