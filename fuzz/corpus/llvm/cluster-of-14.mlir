// sm_90a ptx
gpu.module @m {
  gpu.func @kernel(%arg: complex<f128>, %p: !llvm.ptr) kernel attributes {known_cluster_size = array<i32: 7, 2, 1>, known_block_size = array<i32: 128, 1, 1>} {
    gpu.return
  }
}
