// sm_90a ptx
gpu.module @m {
  gpu.func @k(%X: memref<64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    llvm.call_intrinsic "llvm.nothing"() : () -> ()
    gpu.return
  }
}
