%true = arith.constant true
%start = "smem.fill"(%zero) : (f32) -> !in_flight
%kept = "smem.scale_d"(%start, %true) : (!in_flight, i1) -> !in_flight
%sum = "smem.mma"(%a, %b, %kept) : (!tile, !tile, !in_flight) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
