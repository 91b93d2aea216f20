"builtin.module"() ({
  %0 = "scf.for"(%1, %arg0, %2, %3) ({
  ^bb0(%arg1: index, %arg2: !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>):
    %4 = "smem.mma"(%arg2, %arg2) : (!smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>, !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
    "scf.yield"(%arg2) : (!smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> ()
  }) : (index, index, index, !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  "func.func"() <{function_type = (index) -> (), sym_name = "carried"}> ({
  ^bb0(%arg0: index):
    %1 = "arith.constant"() : () -> index
    %2 = "arith.constant"() <{value = 1 : index}> : () -> index
    %3 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
  }) {static_offsets = array<i64: 0, 12>} : () -> ()
}) : () -> ()
