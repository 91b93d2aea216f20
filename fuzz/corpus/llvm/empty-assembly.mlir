// sm_103a ptx
gpu.module @m {
  gpu.func @kernel(%arg: memref<64xf32>, %p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x0 = llvm.mlir.poison : i32
    nvvm.inline_ptx "" ro(%x0 : i32)
    gpu.return
  }
}
