// pass: smem-lower-mma{arch=sm_100}
%1 = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
