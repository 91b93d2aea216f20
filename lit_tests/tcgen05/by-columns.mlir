// An accumulator that is only read by columns is loaded at each `smem.columns`. One that another mma could overwrite
// before, or that is used as a whole, is loaded at its wait.

// RUN: smem-opt %s --split-input-file --smem-lower-mma=arch=sm_100a | FileCheck %s

!flying = !smem.fragment<tensor<256x32xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<256x32xf32>, #smem.accumulator>
!some = !smem.fragment<tensor<256x8xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @by_columns
// CHECK-NOT: nvvm.tcgen05.ld
// CHECK: call @between
// Columns 16 to 23 of four blocks of 64 rows; those of the rows from 128 on are 32 columns further.
// CHECK: [[FIRST:%[a-z0-9_]+]] = arith.constant 16 : i32
// CHECK: arith.addi %{{.*}}, [[FIRST]]
// CHECK-COUNT-2: nvvm.tcgen05.ld %{{.*}} : vector<4xi32>
// CHECK: arith.constant 32 : i32
// CHECK-COUNT-2: nvvm.tcgen05.ld %{{.*}} : vector<4xi32>
// CHECK-NOT: nvvm.tcgen05.ld
// CHECK: return
func.func private @between()
func.func @by_columns(%a: i64, %b: i64) -> !some attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0, 64>, b_steps = array<i64: 0>} : (i64, i64) -> !flying
  %1 = "smem.wait"(%0) {pending = 0 : i32} : (!flying) -> !ready
  func.call @between() : () -> ()
  %2 = "smem.columns"(%1) {first = 16 : i64} : (!ready) -> !some
  return %2 : !some
}

// -----

!flying = !smem.fragment<tensor<128x16xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<128x16xf32>, #smem.accumulator>
!some = !smem.fragment<tensor<128x8xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @overwritten
// CHECK: nvvm.tcgen05.mma
// CHECK-COUNT-2: nvvm.tcgen05.ld %{{.*}} : vector<8xi32>
// CHECK: nvvm.tcgen05.mma
// CHECK-NOT: nvvm.tcgen05.ld
// CHECK: return
func.func @overwritten(%a: i64, %b: i64) -> !some attributes {known_block_size = array<i32: 128, 1, 1>} {
  %barriers = "smem.tensor_memory"() {columns = 32 : i32, depth = 4 : i32, first = 0 : i32, offset = 0 : i64, warpgroups = 1 : i32} : () -> !smem.pipeline
  %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !flying
  %1 = "smem.wait"(%0) {pending = 0 : i32} : (!flying) -> !ready
  %2 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !flying
  %3 = "smem.columns"(%1) {first = 8 : i64} : (!ready) -> !some
  return %3 : !some
}
