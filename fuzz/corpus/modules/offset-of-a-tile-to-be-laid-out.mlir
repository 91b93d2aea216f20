// pass: smem-assign-layouts
func.func @f() {
  %0 = "smem.alloc"() {offset = 1000 : i64} : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}
