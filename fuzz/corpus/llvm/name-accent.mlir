// sm_90a ptx
gpu.module @m {
  gpu.func @"é"(%X: memref<64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.return
  }
}
