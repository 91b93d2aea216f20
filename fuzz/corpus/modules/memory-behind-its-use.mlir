// pass: smem-to-nvvm{arch=sm_103}
"builtin.module"() ({
  "func.func"() <{function_type = (!smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>, i64) -> !smem.fragment<tensor<64x24xf32>, #smem.accumulator>, sym_name = "a_in_tensor_memory"}> ({
  ^bb0(%arg0: !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>, %arg1: i64):
    %0 = "smem.mma_desc"(%arg0, %arg1) {a_element = "bf16", a_major = "k", a_steps = array<i64>, b_element = "bf16", b_major = "k", b_steps = array<i64: 0, 2>} : (!smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>, i64) -> !smem.fragment<tensor<64x24xf32>, #smem.in_flight>
    %1 = "smem.wait"(%0) {pending = 0 : i32} : (!smem.fragment<tensor<64x24xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x24xf32>, #smem.accumulator>
    %2 = "smem.tensor_memory"() {columns = 40 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
    "func.return"(%1) : (!smem.fragment<tensor<64x24xf32>, #smem.accumulator>) -> ()
  }) {known_block_size = array<i32: 128, 1, 1>} : () -> ()
}) : () -> ()
