// sm_100a ptx
gpu.module @m {
  gpu.func @kernel(%arg: complex<tf32>, %p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    gpu.return
  }
}
