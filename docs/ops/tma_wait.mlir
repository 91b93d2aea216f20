"smem.store"(%d, %a) : (!accumulator, !tile) -> ()
"smem.fence"() : () -> ()
gpu.barrier
%c0 = arith.constant 0 : index
"smem.elect"() ({
  "smem.tma_store"(%a, %A, %c0, %c0) : (!tile, !matrix, index, index) -> ()
  "smem.tma_commit"() : () -> ()
  "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()    // %a has been read and can be overwritten
}) {scope = "cta"} : () -> ()
gpu.barrier
"smem.copy"(%A, %a) : (!matrix, !tile) -> ()
