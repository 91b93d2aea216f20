// pass: smem-to-nvvm{arch=sm_100 max-swizzle=32 explain=true}
"builtin.module"() ({
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (memref<32x64xbf16, strided<[4611686018427387904, 1], offset: 4096>>) -> (), kernel, known_block_size = array<i32: 128, 1, 1>}> ({
    ^bb0(%arg2: memref<32x64xbf16, strided<[4611686018427387904, 1], offset: 4096>>):
      %2 = "smem.alloc"() {offset = 0 : i64} : () -> !smem.tile<tensor<32x64xbf16>, #smem.swizzle<"128B", "row-major">>
      "smem.copy"(%arg2, %2) : (memref<32x64xbf16, strided<[4611686018427387904, 1], offset: 4096>>, !smem.tile<tensor<32x64xbf16>, #smem.swizzle<"128B", "row-major">>) -> ()
      "gpu.return"() : () -> ()
    }) {sym_name = "static"} : () -> ()
  }) : () -> ()
}) : () -> ()
