// In a CTA of 256 threads: each of the two warpgroups stores half of the columns.
!half = !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
!part = memref<64x32xf32, strided<[64, 1], offset: ?>>
%c32 = arith.constant 32 : index
"smem.warp_specialize"() ({
  "smem.partition"() ({
  ^bb0(%warpgroup: index):
    %column = arith.muli %warpgroup, %c32 : index
    %to = memref.subview %D[0, %column] [64, 32] [1, 1] : memref<64x64xf32> to !part
    %zeros = "smem.fill"(%zero) : (f32) -> !half
    "smem.store"(%zeros, %to) : (!half, !part) -> ()
  }) {warpgroups = 2 : i32} : () -> ()
}) : () -> ()
