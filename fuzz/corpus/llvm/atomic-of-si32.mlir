// sm_90a ptx
gpu.module @m {
  
  gpu.func @kernel(%arg: memref<64xf32>, %p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = arith.constant 0 : i32
    %true = arith.constant true
    %p0 = llvm.mlir.zero : !llvm.ptr<1>
    %x0 = llvm.load %p : !llvm.ptr -> si32
    %v0 = llvm.atomicrmw add %p0, %x0 syncscope("llvm.sqrt.f32") acquire : !llvm.ptr<1>, si32
    gpu.return
  }
}
