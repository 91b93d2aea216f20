%first = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight                       // A * B
%second = "smem.mma"(%a, %b, %first) {negate_a} : (!tile, !tile, !in_flight) -> !in_flight   // A * B - A * B
%done = "smem.wait"(%second) {pending = 0 : i32} : (!in_flight) -> !accumulator
