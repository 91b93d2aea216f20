// sm_90a ptx
gpu.module @m {
  gpu.func @k(%X: memref<64xf32>, %p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = llvm.load %p : !llvm.ptr -> vector<1048576xf32>
    llvm.store %x, %p : vector<1048576xf32>, !llvm.ptr
    gpu.return
  }
}
