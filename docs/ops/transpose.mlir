// A * A^T: one tile, which the mma reads as A, and as B by its columns.
%at = "smem.transpose"(%a) : (!tile) -> !tile
%gram = "smem.mma"(%a, %at) : (!tile, !tile) -> !in_flight
%done = "smem.wait"(%gram) {pending = 0 : i32} : (!in_flight) -> !accumulator
