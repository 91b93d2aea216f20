!row = !smem.fragment<tensor<64xf32>, #smem.slice<1>>
%largest = "smem.reduce"(%d) {op = "maximumf", axis = 1 : i32} : (!accumulator) -> !row
%repeated = "smem.broadcast"(%largest) : (!row) -> !accumulator
%centered = "smem.map"(%d, %repeated) ({
^bb0(%x: f32, %most: f32):
  %y = arith.subf %x, %most : f32
  gpu.yield %y : f32
}) : (!accumulator, !accumulator) -> !accumulator
"smem.store"(%centered, %D) : (!accumulator, memref<64x64xf32>) -> ()
