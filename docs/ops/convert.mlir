%p = "smem.convert"(%d) : (!accumulator) -> !a_fragment      // D of one mma is A of the next
%sum = "smem.mma"(%p, %b) : (!a_fragment, !tile) -> !in_flight
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!in_flight) -> !accumulator
