// In a CTA of 384 threads: the mma of warpgroup 1 come first, and while they run, warpgroup 2 prepares its own.
"smem.warp_specialize"() ({
  "smem.partition"() ({
    "smem.store"(%d, %D) : (!accumulator, memref<64x64xf32>) -> ()
  }) {warpgroups = 1 : i32} : () -> ()
  "smem.partition"() ({
    "smem.order_wait"() : () -> ()
    %sum = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight
    "smem.order_arrive"() : () -> ()
    %done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
  }) {warpgroups = 2 : i32} : () -> ()
}) : () -> ()
