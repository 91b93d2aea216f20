// sm_90a ptx
gpu.module @k1 { gpu.func @a(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} { gpu.return } }
gpu.module @k2 { gpu.func @b(%A: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} { gpu.return } }
