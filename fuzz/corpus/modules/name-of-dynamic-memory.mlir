// pass: smem-to-nvvm
func.func @__smem_dynamic(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  "smem.copy"(%m, %t) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()
  return
}
