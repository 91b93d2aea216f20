// pass: smem-lower-copies
func.func @f(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 0, 1, 1>} {
  %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  "smem.copy"(%m, %0) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> ()
  return
}
