// sm_90a ptx
gpu.module @m {
  gpu.func @k(%X: memref<64xf32>, %p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = llvm.load %p : !llvm.ptr -> i129
    %y = arith.divsi %x, %x : i129
    llvm.store %y, %p : i129, !llvm.ptr
    gpu.return
  }
}
