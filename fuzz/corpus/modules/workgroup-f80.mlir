// pass: smem-allocate
"builtin.module"() ({
  "gpu.module"() <{sym_name = "kernels"}> ({
    "gpu.func"() <{function_type = (memref<4xf32>) -> (), kernel, workgroup_attributions = 2 : i64}> ({
    ^bb0(%arg0: memref<4xf32>, %arg1: memref<768xf80, #gpu.address_space<workgroup>>, %arg2: memref<4xi8, #gpu.address_space<workgroup>>):
      %0 = "smem.alloc"() : () -> !smem.tile<tensor<896x128xbf16>, #smem.layout<"Swizzle<3,4,3> o (896,(64,2)):(64,(1,57344))">>
      "gpu.return"() : () -> ()
    }) {sym_name = "four_bytes_too_much"} : () -> ()
  }) : () -> ()
}) : () -> ()
