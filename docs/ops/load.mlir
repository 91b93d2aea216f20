%fragment = "smem.load"(%a) : (!tile) -> !a_fragment         // ldmatrix
%sum = "smem.mma"(%fragment, %b) : (!a_fragment, !tile) -> !in_flight    // A from registers
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
