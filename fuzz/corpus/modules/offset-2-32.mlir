// pass: smem-lower-copies
func.func @f(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = "smem.alloc"() {offset = 4294967296 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  "smem.copy"(%m, %0) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> ()
  return
}
