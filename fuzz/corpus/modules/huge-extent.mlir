// pass: smem-to-nvvm
func.func @f(%m: memref<64x64xbf16>) {
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x9223372036854775807xbf16>, #smem.auto>
  return
}
