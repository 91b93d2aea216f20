// pass: smem-to-nvvm
func.func @f(%m: memref<64x64xbf16>) {
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<4294967296x8xbf16>, #smem.swizzle<"none", "row-major">>
  return
}
