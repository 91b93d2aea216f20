// In a CTA of 256 threads: the turn of a warpgroup has two mma.
"smem.warp_specialize"() ({
  "smem.partition"() ({
    "smem.order_wait"() : () -> ()
    %first = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight
    %second = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight
    "smem.order_arrive"() : () -> ()
    %done = "smem.wait"(%first) {pending = 1 : i32} : (!in_flight) -> !accumulator
    %also = "smem.wait"(%second) {pending = 0 : i32} : (!in_flight) -> !accumulator
  }) {warpgroups = 2 : i32} : () -> ()
}) : () -> ()
