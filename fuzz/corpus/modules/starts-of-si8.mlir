!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
func.func @before(%t: !t) {
  %0 = "smem.subtile"(%t) {static_offsets = array<si8: -8, 0>} : (!t) -> !t
}
