// For sm_100a: accumulators of 64 columns, of one warpgroup.
%barriers = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 1 : i32} : () -> !smem.pipeline
