%relu = "smem.map"(%d) ({
^bb0(%x: f32):
  %y = arith.maximumf %x, %zero : f32
  gpu.yield %y : f32
}) : (!accumulator) -> !accumulator
"smem.store"(%relu, %D) : (!accumulator, memref<64x64xf32>) -> ()
