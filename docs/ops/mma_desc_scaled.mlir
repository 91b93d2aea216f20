// For sm_100a: descriptors of A, B and their scale factors.
!sum = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>
%barriers = "smem.tensor_memory"() {columns = 128 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 1 : i32} : () -> !smem.pipeline
%x = arith.constant 0x4000404000010040 : i64
%sum = "smem.mma_desc_scaled"(%x, %x, %x, %x) {
  a_element = "e4m3", a_major = "k", a_steps = array<i64: 0, 2, 4, 6>,
  b_element = "e4m3", b_major = "k", b_steps = array<i64: 0, 2, 4, 6>,
  scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !sum
%done = "smem.wait"(%sum) {pending = 0 : i32} : (!sum) -> !smem.fragment<tensor<128x64xf32>, #smem.accumulator>
