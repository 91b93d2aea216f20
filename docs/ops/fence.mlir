"smem.copy"(%B, %a) : (!matrix, !tile) -> ()                // ordinary stores
"smem.fence"() : () -> ()                                   // before the async proxy of the mma
gpu.barrier                                                 // in every thread
%sum = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
