// The instruction descriptors of Triton's tests (test/Conversion/tritongpu_to_llvm_blackwell.mlir) for the same mma:
// u8 and s8 of 128x128, and e4m3 by e2m1 of 128x128 with block scaling, where the factors of the instructions are in
// bytes 0 and 1 of a word.

// RUN: smem-opt %s --split-input-file --smem-lower-mma=arch=sm_100a | FileCheck %s

!i32 = !smem.fragment<tensor<128x128xi32>, #smem.in_flight>
!f32 = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>

// CHECK: arith.constant 136314912 : i32
// CHECK: nvvm.tcgen05.mma {{.*}} kind = #nvvm.tcgen05_mma_kind<i8>
// CHECK: arith.constant 136316064 : i32
// CHECK: nvvm.tcgen05.mma {{.*}} kind = #nvvm.tcgen05_mma_kind<i8>
// CHECK: arith.constant 144708608 : i32
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}} kind = #nvvm.tcgen05_mma_kind<mxf8f6f4>
// CHECK: arith.constant 681579536 : i32
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}} kind = #nvvm.tcgen05_mma_kind<mxf8f6f4>
func.func @mmas(%a: i64, %b: i64, %sa: i64, %sb: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 392 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc"(%a, %b) {a_element = "u8", b_element = "u8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !i32
  %1 = "smem.mma_desc"(%a, %b) {a_element = "s8", b_element = "s8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !i32
  %2 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e4m3", b_element = "e2m1_p64", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !f32
  return
}
