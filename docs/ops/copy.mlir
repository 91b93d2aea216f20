%tile = "smem.alloc"() : () -> !tile
"smem.copy"(%A, %tile) : (!matrix, !tile) -> ()
gpu.barrier
%transposed = "smem.alloc"() : () -> !tile
"smem.copy"(%tile, %transposed) {permutation = array<i64: 1, 0>} : (!tile, !tile) -> ()
