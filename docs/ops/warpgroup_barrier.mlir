%staged = "smem.alloc"() : () -> !tile
"smem.store"(%d, %staged) : (!accumulator, !tile) -> ()
"smem.fence"() : () -> ()
"smem.warpgroup_barrier"() : () -> ()           // all threads of the warpgroup have stored
%c0 = arith.constant 0 : index
"smem.elect"() ({                               // one thread of the warpgroup
  "smem.tma_store"(%staged, %A, %c0, %c0) : (!tile, !matrix, index, index) -> ()
  "smem.tma_commit"() : () -> ()
  "smem.tma_wait"() {pending = 0 : i32} : () -> ()
}) {scope = "warpgroup"} : () -> ()
