!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @element(%m: memref<1x1x32x4x4xindex>, %t: !t) {
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xindex>, !t) -> ()
}
