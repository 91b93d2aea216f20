func.func @too_much() {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<912x128xbf16>, #smem.swizzle<"1\8B", "row-major">>
}
