// pass: smem-lower-copies
"builtin.module"() ({
  "func.func"() <{function_type = (memref<8192xi8, #gpu.address_space<workgroup>>, memref<64x64xbf16>) -> (), sym_name = "given_by_a_view"}> ({
  ^bb0(%arg0: memref<8192xi8, #gpu.address_space<workgroup>>, %arg1: memref<64x64xbf16>):
    %0 = "smem.view"(%arg0) : (memref<8192xi8, #gpu.address_space<workgroup>>) -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
    %1 = "smem.subtile"(%0) {static_offsets = array<i64: 0, 0>} : (!smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
    "smem.copy"(%arg1, %1) : (memref<64x64xbf16>, !smem.tile<tensor<64x64xbf16>, #smem.auto>) -> ()
    "func.return"() : () -> ()
  }) {known_block_size = array<i32: 64, 4, 1>} : () -> ()
}) : () -> ()
