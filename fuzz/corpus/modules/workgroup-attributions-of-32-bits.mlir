// pass: smem-allocate
"gpu.module"() <{sym_name = "kernels"}> ({
  "gpu.func"() <{function_type = (f32) -> (), kernel, workgroup_attributions = 4294967295}> ({
  ^bb0(%arg0: f32, %arg1: memref<4xf32, #gpu.address_space<workgroup>>):
    "gpu.return"() : () -> ()
  }) {sym_name = "kernel"} : () -> ()
}) : () -> ()
