// sm_90a ptx
gpu.module @m { gpu.func @k() kernel { llvm.fence syncscope("agent") acquire gpu.return } }
