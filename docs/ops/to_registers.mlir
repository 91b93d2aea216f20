// The epilogue is the host's: 32 elements of D in each thread.
%x = "smem.to_registers"(%d) : (!accumulator) -> vector<32xf32>
%y = arith.mulf %x, %x : vector<32xf32>
%squares = "smem.from_registers"(%y) : (vector<32xf32>) -> !accumulator
"smem.store"(%squares, %D) : (!accumulator, memref<64x64xf32>) -> ()
