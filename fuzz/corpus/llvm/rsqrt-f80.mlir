// sm_90a ptx
gpu.module @m { gpu.func @k(%x: f80, %o: memref<4xf80>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} { %c = arith.constant 0 : index %r = math.rsqrt %x : f80 memref.store %r, %o[%c] : memref<4xf80> gpu.return } }
