!some = memref<?x64xf32, strided<[64, 1]>>
"smem.store"(%d, %D) : (!accumulator, memref<64x64xf32>) -> ()                   // to global memory
%some = memref.subview %D[0, 0] [%i, 64] [1, 1] : memref<64x64xf32> to !some
"smem.store"(%d, %some) : (!accumulator, !some) -> ()                            // the first %i rows
%heads = memref.expand_shape %D [[0, 1], [2]] output_shape [4, 16, 64] : memref<64x64xf32> into memref<4x16x64xf32>
"smem.store"(%d, %heads) : (!accumulator, memref<4x16x64xf32>) -> ()             // 16 rows of each of 4 matrices
%staged = "smem.alloc"() : () -> !tile
"smem.store"(%d, %staged) : (!accumulator, !tile) -> ()                          // rounded to bf16, by stmatrix
