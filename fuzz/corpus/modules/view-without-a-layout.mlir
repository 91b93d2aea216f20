// pass: smem-lower-copies
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @no_layout() workgroup(%bytes: !w) kernel {
    %a = "smem.view"(%bytes) : (!w) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
    gpu.return
  }
}
