// pass: smem-assign-layouts
func.func @f(%m: memref<64x64xbf16>) {
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  "smem.copy"(%m, %t) {permutation = array<i128: 1, 0>} : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()
  return
}
