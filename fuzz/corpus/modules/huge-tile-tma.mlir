// pass: smem-to-nvvm
func.func @f(%m: memref<?x?xbf16, strided<[?, 1]>>, %i: index) {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<2147483647x8xbf16>, #smem.swizzle<"none", "row-major">>
  "smem.tma_store"(%t, %m, %i, %i) : (!smem.tile<tensor<2147483647x8xbf16>, #smem.swizzle<"none", "row-major">>, memref<?x?xbf16, strided<[?, 1]>>, index, index) -> ()
  return
}
