// sm_100a ptx
gpu.module @m {
  llvm.func @"@k"() attributes {passthrough = ["llvm.nvvm.é", ["target-cpu", "\0A.func f(){}"]]}
  gpu.func @kernel(%arg: memref<64xf32>, %p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = arith.constant 0 : i32
    %true = arith.constant true
    %p0 = llvm.mlir.zero : !llvm.ptr
    %v0 = llvm.load %p0 {alignment = 0 : i64} : !llvm.ptr -> !llvm.metadata
    llvm.store %v0, %p : !llvm.metadata, !llvm.ptr
    gpu.return
  }
}
