// Accumulators of several blocks: two blocks of 64 rows share a warp's lanes, and N above 256 is split. An A in
// registers is stored to tensor memory first.

// RUN: smem-opt %s --split-input-file --smem-lower-mma=arch=sm_100a | FileCheck %s

!wide = !smem.fragment<tensor<192x8xf32>, #smem.in_flight>

// CHECK-LABEL: func.func @rows
// CHECK: scf.if
// Lane 16: 16 * 65536.
// CHECK: arith.constant 1048576 : i32
// The third block is after the columns of the first two.
// CHECK: arith.constant 8 : i32
// CHECK: nvvm.tcgen05.mma
// CHECK: nvvm.tcgen05.mma
// CHECK: nvvm.tcgen05.mma
func.func @rows(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 16 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 512, 1024>, b_steps = array<i64: 0>} : (i64, i64) -> !wide
  return
}

// -----

!a = !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>
!flying = !smem.fragment<tensor<64x24xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<64x24xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @a_in_tensor_memory
// An earlier mma may still read its columns.
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.tcgen05.st %{{.*}}, %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_16x128b>} : vector<8xi32>
// CHECK: nvvm.tcgen05.wait <store>
// CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {{.*}} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1)
// CHECK: nvvm.tcgen05.mma %{{.*}} : (!llvm.ptr<6>, !llvm.ptr<6>, i64, i32, i1)
// 24 columns are 16 and 8.
// CHECK: nvvm.tcgen05.ld %{{.*}} : vector<8xi32>
// CHECK: nvvm.tcgen05.ld %{{.*}} : vector<4xi32>
func.func @a_in_tensor_memory(%a: !a, %b: i64) -> !ready attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 40 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "k", a_steps = array<i64>, b_steps = array<i64: 0, 2>} : (!a, i64) -> !flying
  %1 = "smem.wait"(%0) {pending = 0 : i32} : (!flying) -> !ready
  return %1 : !ready
}

// -----

!flying = !smem.fragment<tensor<64x8xi32>, #smem.in_flight>

// The initial value of an accumulator is stored to tensor memory.
// CHECK-LABEL: func.func @filled
// CHECK: nvvm.tcgen05.st %{{.*}}, %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_16x256b>} : vector<4xi32>
// CHECK: nvvm.tcgen05.wait <store>
// CHECK: nvvm.tcgen05.fence <before>
// CHECK: smem.warpgroup_barrier
// CHECK: nvvm.tcgen05.fence <after>
// CHECK: arith.constant true
// CHECK: nvvm.tcgen05.mma
// CHECK: nvvm.tcgen05.commit
// A wait for all but the last mma: the number of the next mma minus two gives the mbarrier (modulo 4) and its phase
// (divided by 4).
// CHECK: [[NEXT:%[0-9]+]] = llvm.load
// CHECK: [[TWO:%[a-z0-9_]+]] = arith.constant 2 : i32
// CHECK: [[LAST:%[0-9]+]] = arith.subi [[NEXT]], [[TWO]]
// CHECK: arith.divui [[LAST]],
// CHECK: arith.remui [[LAST]],
// CHECK: nvvm.mbarrier.try_wait.parity
func.func @filled(%a: i64, %b: i64, %value: i32) -> !flying attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 8 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.fill"(%value) : (i32) -> !flying
  %1 = "smem.mma_desc"(%a, %b, %0) {a_element = "s8", b_element = "s8", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !flying) -> !flying
  %2 = "smem.wait"(%1) {pending = 1 : i32} : (!flying) -> !flying
  return %2 : !flying
}

// -----

!flying = !smem.fragment<tensor<128x8xf16>, #smem.in_flight>
!ready = !smem.fragment<tensor<128x8xf16>, #smem.accumulator>

// 128 rows are one instruction: D f16, N = 8 (0x00020000), M = 128 (0x08000000). Each warp loads its rows in two
// halves of its lanes, 16 lanes apart. An f16 is in the low half of a column.
// CHECK-LABEL: func.func @tall
// CHECK: arith.constant 134348800 : i32
// CHECK: nvvm.tcgen05.mma
// CHECK-NOT: nvvm.tcgen05.mma
// CHECK: nvvm.tcgen05.ld %{{.*}} : vector<4xi32>
// CHECK: arith.constant 21520 : i32
// CHECK: nvvm.prmt
// CHECK: arith.constant 1048576 : i32
// CHECK: nvvm.tcgen05.ld %{{.*}} : vector<4xi32>
func.func @tall(%a: i64, %b: i64) -> !ready attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 8 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !flying
  %1 = "smem.wait"(%0) {pending = 0 : i32} : (!flying) -> !ready
  return %1 : !ready
}
