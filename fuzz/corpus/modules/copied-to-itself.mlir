// pass: smem-assign-layouts
"builtin.module"() ({
  "func.func"() <{function_type = (memref<64x128xi8, strided<[1, ?]>>, !smem.tile<tensor<128x64xi8>, #smem.auto>) -> (), sym_name = "turned"}> ({
  ^bb0(%arg3: memref<64x128xi8, strided<[1, ?]>>, %arg4: !smem.tile<tensor<128x64xi8>, #smem.auto>):
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (!smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "row-major">>) -> (), sym_name = "follows_what_is_written"}> ({
  ^bb0(%arg2: !smem.tile<tensor<64x64xtf32>, #smem.swizzle<"128B", "row-major">>):
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (memref<64x64xf32, strided<[1, ?]>>, index) -> (), sym_name = "follows_what_is_read"}> ({
  ^bb0(%arg0: memref<64x64xf32, strided<[1, ?]>>, %arg1: index):
    %0 = "smem.alloc"() : () -> !smem.tile<tensor<64x64xf32>, #smem.auto>
    "smem.copy"(%0, %0) {permutation = array<i64: 1, 0>} : (!smem.tile<tensor<64x64xf32>, #smem.auto>, !smem.tile<tensor<64x64xf32>, #smem.auto>) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
