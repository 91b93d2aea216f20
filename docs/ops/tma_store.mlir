"smem.store"(%d, %a) : (!accumulator, !tile) -> ()
"smem.fence"() : () -> ()                       // TMA reads through the async proxy
gpu.barrier
%c0 = arith.constant 0 : index
"smem.elect"() ({
  "smem.tma_store"(%a, %A, %c0, %c0) : (!tile, !matrix, index, index) -> ()
  "smem.tma_commit"() : () -> ()
  "smem.tma_wait"() {pending = 0 : i32} : () -> ()
}) {scope = "cta"} : () -> ()
