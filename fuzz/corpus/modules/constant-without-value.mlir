"builtin.module"() ({
  "func.func"() <{function_type = (memref<64x64xbf16>, memref<8xindex>) -> (), sym_name = "unknown_stage"}> ({
  ^bb0(%arg0: memref<64x64xbf16>, %arg1: memref<8xindex>):
    %0 = "smem.stage"(%2, %1) : (!smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>, index) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
    %1 = "arith.constant"() : () -> index
    %2 = "smem.alloc"() : () -> !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  }) : () -> ()
}) : () -> ()
