%one = arith.constant 1.0 : f32
%ones = "smem.fill"(%one) : (f32) -> !in_flight             // an accumulator to add to
%sum = "smem.mma"(%a, %b, %ones) : (!tile, !tile, !in_flight) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
