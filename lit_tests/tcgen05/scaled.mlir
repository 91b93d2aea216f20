// Kinds with block scaling: factors are copied to tensor memory, and each instruction descriptor selects bytes of
// their words.

// RUN: smem-opt %s --split-input-file --pass-pipeline='builtin.module(smem-lower-mma{arch=sm_103a},func.func(canonicalize,cse))' | FileCheck %s

!f32 = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>

// mxf8f6f4, K = 128: four instructions, one factor each: the bytes 0 to 3 of a word.
// CHECK-LABEL: func.func @mxf8f6f4
// The word of B is four columns after that of A.
// CHECK: nvvm.tcgen05.cp [[SA:%[0-9]+]], %{{.*}} {multicast = #nvvm.tcgen05_cp_multicast<warpx4>, shape = #nvvm.tcgen05_cp_shape<shape_32x128b>}
// CHECK: nvvm.tcgen05.cp [[SB:%[0-9]+]], %{{.*}} {multicast
// e5m2 (0x80) by e3m2 (0x1000), N = 64 (0x00100000), ue8m0 (0x00800000), M = 128 (0x08000000): 0x08901080.
// CHECK: nvvm.tcgen05.mma.block_scale [[D:%[0-9]+]], %{{.*}}, %{{.*}}, %c143659136_i32, %false, [[SA]], [[SB]] {blockScale = #nvvm.tcgen05_mma_block_scale<block32>, ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<mxf8f6f4>}
// Byte 1 of both words (0x20000010), and so on.
// CHECK: nvvm.tcgen05.mma.block_scale [[D]], %{{.*}}, %{{.*}}, %c680530064_i32, %true, [[SA]], [[SB]]
// CHECK: nvvm.tcgen05.mma.block_scale [[D]], %{{.*}}, %{{.*}}, %c1217400992_i32, %true, [[SA]], [[SB]]
// CHECK: nvvm.tcgen05.mma.block_scale [[D]], %{{.*}}, %{{.*}}, %c1754271920_i32, %true, [[SA]], [[SB]]
// CHECK: nvvm.tcgen05.commit
func.func @mxf8f6f4(%a: i64, %b: i64, %sa: i64, %sb: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e5m2", b_element = "e3m2_p32", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 4, 6>, b_steps = array<i64: 0, 2, 4, 6>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>} : (i64, i64, i64, i64) -> !f32
  return
}

// -----

!f32 = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>

// mxf4, K = 128: two instructions, two factors each: the bytes 0 and 2. A is negated (0x2000).
// CHECK-LABEL: func.func @mxf4
// e2m1 (0x480): 0x08902480, and 0x489024a0.
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c143664256_i32, %false, {{.*}}blockScale = #nvvm.tcgen05_mma_block_scale<block32>{{.*}}kind = #nvvm.tcgen05_mma_kind<mxf4>
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c1217406112_i32, %true,
// CHECK-NOT: nvvm.tcgen05.mma
// CHECK: return
func.func @mxf4(%a: i64, %b: i64, %sa: i64, %sb: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 72 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 2>, scale = "ue8m0", block = 32 : i64, a_scale_steps = array<i64: 0>, b_scale_steps = array<i64: 0>, negate_a} : (i64, i64, i64, i64) -> !f32
  return
}

// -----

!f32 = !smem.fragment<tensor<256x160xf32>, #smem.in_flight>

// mxf4nvf4, K = 128: the four factors of an instruction are a word. Two words of each of two blocks of 128 rows, for
// A and for B: eight copies. The second word of A is 4 columns further, that of B 8.
// CHECK-LABEL: func.func @mxf4nvf4
// CHECK: [[BASE:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK: scf.if
// CHECK: [[A00:%[0-9]+]] = llvm.inttoptr
// CHECK-NEXT: nvvm.tcgen05.cp [[A00]],
// CHECK: nvvm.tcgen05.cp [[A01:%[0-9]+]],
// CHECK: nvvm.tcgen05.cp [[A10:%[0-9]+]],
// CHECK: nvvm.tcgen05.cp [[A11:%[0-9]+]],
// CHECK: nvvm.tcgen05.cp [[B00:%[0-9]+]],
// CHECK: nvvm.tcgen05.cp [[B01:%[0-9]+]],
// CHECK: nvvm.tcgen05.cp %{{[0-9]+}},
// CHECK: nvvm.tcgen05.cp %{{[0-9]+}},
// ue4m3 (0), N = 160 (0x00280000), M = 128: 0x08280480.
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c136840320_i32, %false, [[A00]], [[B00]] {blockScale = #nvvm.tcgen05_mma_block_scale<block16>{{.*}}kind = #nvvm.tcgen05_mma_kind<mxf4nvf4>
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c136840320_i32, %false, [[A10]], [[B00]]
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c136840320_i32, %true, [[A01]], [[B01]]
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c136840320_i32, %true, [[A11]], [[B01]]
func.func @mxf4nvf4(%a: i64, %b: i64, %sa: i64, %sb: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 352 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2, 1024, 1026>, b_steps = array<i64: 0, 2>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32, 64, 96>, b_scale_steps = array<i64: 0, 32, 64, 96>} : (i64, i64, i64, i64) -> !f32
  return
}

// -----

!f32 = !smem.fragment<tensor<128x64xf32>, #smem.in_flight>

// 48 bytes along K, of K = 768: eight instructions. The second chunk of the third and of the sixth begins at the
// next atoms: 0x400 (16-byte units) further for A, 0x200 for B; its address replaces LBO, which bit 52 (absolute
// mode) states. The six factors of an instruction continue in the next word: they begin at bytes 0 and 2.
// CHECK-LABEL: func.func @long
// The third of A: 6 + (0x400 << 16) + (1 << 52) - (1 << 16).
// CHECK-DAG: %[[THIRD:.*]] = arith.constant 4503599694413830 : i64
// CHECK-DAG: %[[SIXTH:.*]] = arith.constant 4503599761523719 : i64
// CHECK-DAG: %[[MASK:.*]] = arith.constant 16383 : i64
// CHECK: [[FIRST:%[0-9]+]] = arith.andi %arg0, %[[MASK]]
// CHECK: [[HIGH:%[0-9]+]] = arith.shli [[FIRST]], %c16_i64
// CHECK: [[ABSOLUTE:%[0-9]+]] = arith.addi %arg0, [[HIGH]]
// CHECK-DAG: [[A1:%[0-9]+]] = arith.addi %arg0, %c3_i64
// CHECK-DAG: [[A2:%[0-9]+]] = arith.addi [[ABSOLUTE]], %[[THIRD]]
// CHECK-DAG: [[A5:%[0-9]+]] = arith.addi [[ABSOLUTE]], %[[SIXTH]]
// K = 96 (0x80000000), ue4m3: 0x88100480; byte 2 (0x40000020): 0xc81004a0.
// CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, %arg0, %{{.*}}, %c-2012216192_i32, %false, [[S0:%[0-9]+]], %{{[0-9]+}} {blockScale = #nvvm.tcgen05_mma_block_scale<block16>{{.*}}kind = #nvvm.tcgen05_mma_kind<mxf4nvf4>
// CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, [[A1]], %{{.*}}, %c-938474336_i32, %true, [[S1:%[0-9]+]],
// CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, [[A2]], %{{.*}}, %c-2012216192_i32, %true, [[S3:%[0-9]+]],
// CHECK: nvvm.tcgen05.mma.block_scale
// CHECK: nvvm.tcgen05.mma.block_scale
// CHECK: nvvm.tcgen05.mma.block_scale %{{.*}}, [[A5]],
// CHECK: nvvm.tcgen05.mma.block_scale
// CHECK: nvvm.tcgen05.mma.block_scale
func.func @long(%a: i64, %b: i64, %sa: i64, %sb: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 160 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k",
    a_steps = array<i64: 0, 3, 6, 1025, 1028, 1031, 2050, 2053>, a_second_chunks = array<i64: -1, -1, 1024, -1, -1, 2048, -1, -1>,
    b_steps = array<i64: 0, 3, 6, 513, 516, 519, 1026, 1029>, b_second_chunks = array<i64: -1, -1, 512, -1, -1, 1024, -1, -1>,
    scale = "ue4m3", block = 16 : i64,
    a_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>,
    b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352>} : (i64, i64, i64, i64) -> !f32
  return
}

// -----

!f32 = !smem.fragment<tensor<128x320xf32>, #smem.in_flight>

// 320 columns are instructions of 256 (0x08400480) and of 64 (0x08100480). A word of B's factors, of 384 rows,
// takes 12 columns; the factors of columns 256 and up are 8 columns into it. The two words of A are before those of B.
// CHECK-LABEL: func.func @two_instructions_along_n
// CHECK: [[BASE:%[0-9]+]] = llvm.load %{{.*}} : !llvm.ptr<3> -> i32
// CHECK: [[AT_A0:%[0-9]+]] = arith.addi [[FIRST:%[0-9]+]], %c480_i32
// CHECK-NEXT: [[AT_B0:%[0-9]+]] = arith.addi [[FIRST]], %c488_i32
// CHECK: [[A0:%[0-9]+]] = llvm.inttoptr [[AT_A0]]
// CHECK: [[AT_A1:%[0-9]+]] = arith.addi [[FIRST]], %c484_i32
// CHECK-NEXT: [[A1:%[0-9]+]] = llvm.inttoptr [[AT_A1]]
// CHECK: [[B00:%[0-9]+]] = llvm.inttoptr [[AT_B0]]
// CHECK: [[AT_B01:%[0-9]+]] = arith.addi [[FIRST]], %c500_i32
// CHECK-NEXT: [[B01:%[0-9]+]] = llvm.inttoptr [[AT_B01]]
// CHECK: [[AT_B10:%[0-9]+]] = arith.addi [[FIRST]], %c496_i32
// CHECK-NEXT: [[B10:%[0-9]+]] = llvm.inttoptr [[AT_B10]]
// CHECK: [[AT_B11:%[0-9]+]] = arith.addi [[FIRST]], %c508_i32
// CHECK-NEXT: [[B11:%[0-9]+]] = llvm.inttoptr [[AT_B11]]
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c138413184_i32, %false, [[A0]], [[B00]]
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c135267456_i32, %false, [[A0]], [[B10]]
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c138413184_i32, %true, [[A1]], [[B01]]
// CHECK: nvvm.tcgen05.mma.block_scale {{.*}}, %c135267456_i32, %true, [[A1]], [[B11]]
func.func @two_instructions_along_n(%a: i64, %b: i64, %sa: i64, %sb: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 512 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc_scaled"(%a, %b, %sa, %sb) {a_element = "e2m1", b_element = "e2m1", a_major = "k", b_major = "k", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 2, 1280, 1282>, scale = "ue4m3", block = 16 : i64, a_scale_steps = array<i64: 0, 32>, b_scale_steps = array<i64: 0, 32, 64, 96, 128, 160>} : (i64, i64, i64, i64) -> !f32
  return
}
