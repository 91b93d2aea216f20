// sm_90a cubin
gpu.module @m {
  gpu.func @""(%X: memref<64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.return
  }
}
