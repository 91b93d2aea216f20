// pass: smem-to-nvvm
func.func @f(%t: !smem.tile<tensor<64x64xbf16>, #smem.auto>) { return }
