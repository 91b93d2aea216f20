// A is the host's: 32 elements of it in each thread, in the order of smem.to_registers.
%one = arith.constant dense<1.0> : vector<32xbf16>
%ones = "smem.from_registers"(%one) : (vector<32xbf16>) -> !a_fragment
%0 = "smem.mma"(%ones, %b) : (!a_fragment, !tile) -> !in_flight       // the sums of B's columns, in each row
%1 = "smem.wait"(%0) {pending = 0 : i32} : (!in_flight) -> !accumulator
"smem.store"(%1, %D) : (!accumulator, memref<64x64xf32>) -> ()
