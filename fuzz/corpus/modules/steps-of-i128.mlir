"builtin.module"() ({
  "func.func"() <{function_type = (i64, i64) -> (), sym_name = "wgmma_pair_no_memory"}> ({
  ^bb0(%arg0: i64, %arg1: i64):
    %0 = "smem.mma_desc"(%arg0, %arg1) {a_element = "bf16", a_major = "k", a_steps = array<i128: 0>, b_element = "bf16", b_major = "k", b_steps = array<i64: 0>, pair} : (i64, i64) -> !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
  }) {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} : () -> ()
}) : () -> ()
