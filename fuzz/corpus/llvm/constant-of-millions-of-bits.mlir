// sm_100a ptx
gpu.module @m {
  
  gpu.func @kernel(%arg: memref<64xf32>, %p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = arith.constant 0 : i32
    %true = arith.constant true
    %v0 = arith.constant -1 : i16777215
    llvm.store %v0, %p : i16777215, !llvm.ptr
    gpu.return
  }
}
