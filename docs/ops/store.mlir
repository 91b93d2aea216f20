"smem.store"(%d, %D) : (!accumulator, memref<64x64xf32>) -> ()                   // to global memory
%staged = "smem.alloc"() : () -> !tile
"smem.store"(%d, %staged) : (!accumulator, !tile) -> ()                          // rounded to bf16, by stmatrix
