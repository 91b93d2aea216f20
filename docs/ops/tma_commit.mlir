"smem.store"(%d, %a) : (!accumulator, !tile) -> ()
"smem.store"(%d, %b) : (!accumulator, !tile) -> ()
"smem.fence"() : () -> ()
gpu.barrier
%c0 = arith.constant 0 : index
"smem.elect"() ({
  "smem.tma_store"(%a, %A, %c0, %c0) : (!tile, !matrix, index, index) -> ()
  "smem.tma_store"(%b, %B, %c0, %c0) : (!tile, !matrix, index, index) -> ()
  "smem.tma_commit"() : () -> ()                // one group of both stores
  "smem.tma_wait"() {pending = 0 : i32} : () -> ()
}) {scope = "cta"} : () -> ()
