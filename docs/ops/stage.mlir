%tiles = "smem.alloc"() : () -> !tiles          // four stages of 64 x 64
%c4 = arith.constant 4 : index
%index = arith.remui %i, %c4 : index
%tile = "smem.stage"(%tiles, %index) : (!tiles, index) -> !tile
"smem.copy"(%A, %tile) : (!matrix, !tile) -> ()
