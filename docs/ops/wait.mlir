%sum = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator     // now readable
"smem.store"(%done, %D) : (!accumulator, memref<64x64xf32>) -> ()
