// In a CTA of 384 threads, warpgroup 0 has one task, warpgroups 1 and 2 another.
"smem.warp_specialize"() ({
  "smem.partition"() ({
    "smem.store"(%d, %D) : (!accumulator, memref<64x64xf32>) -> ()
  }) {warpgroups = 1 : i32, registers = 40 : i32} : () -> ()
  "smem.partition"() ({
  ^bb0(%warpgroup: index):                      // 0 or 1
    %sum = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight
    %done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
  }) {warpgroups = 2 : i32, registers = 232 : i32} : () -> ()
}) : () -> ()
