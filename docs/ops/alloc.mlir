%tile = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>       // a pass chooses the layout
%stages = "smem.alloc"() : () -> !smem.tile<tensor<4x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
"smem.copy"(%A, %tile) : (!matrix, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()
