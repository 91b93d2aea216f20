// Before a loop that reads the accumulator it carries while another mma runs, there is a wait: ptxas wants one on each
// path to the read.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @reads_beside_mma
func.func @reads_beside_mma(%a: i64, %b: i64, %n: index, %zero: !c) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: nvvm.wgmma.wait.group.sync.aligned 0
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: nvvm.wgmma.fence
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !c {
    %s = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
    %odd = arith.cmpi eq, %i, %c1 : index
    scf.if %odd {
      %read = builtin.unrealized_conversion_cast %acc : !c to f32
    }
    %w = "smem.wait"(%s) {pending = 0 : i32} : (!d) -> !c
    %m = "smem.mma_desc"(%a, %b, %acc) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !c) -> !d
    %next = "smem.wait"(%m) {pending = 0 : i32} : (!d) -> !c
    scf.yield %next : !c
  }
  return
}

// A wait of the iteration comes before the read.
// CHECK-LABEL: func.func @reads_after_a_wait
func.func @reads_after_a_wait(%a: i64, %b: i64, %n: index, %zero: !c) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: nvvm.wgmma.wait
  // CHECK: scf.for
  // CHECK-NEXT: nvvm.wgmma.fence
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !c {
    %s = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
    %w = "smem.wait"(%s) {pending = 0 : i32} : (!d) -> !c
    %read = builtin.unrealized_conversion_cast %acc : !c to f32
    %m = "smem.mma_desc"(%a, %b, %acc) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !c) -> !d
    %next = "smem.wait"(%m) {pending = 0 : i32} : (!d) -> !c
    scf.yield %next : !c
  }
  return
}

// No mma runs at the read.
// CHECK-LABEL: func.func @reads_before_mma
func.func @reads_before_mma(%a: i64, %b: i64, %n: index, %zero: !c) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: nvvm.wgmma.wait
  // CHECK: scf.for
  // CHECK-NEXT: builtin.unrealized_conversion_cast
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> !c {
    %read = builtin.unrealized_conversion_cast %acc : !c to f32
    %m = "smem.mma_desc"(%a, %b, %acc) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !c) -> !d
    %next = "smem.wait"(%m) {pending = 0 : i32} : (!d) -> !c
    scf.yield %next : !c
  }
  return
}

// A wait precedes the loop.
// CHECK-LABEL: func.func @follows_a_wait
func.func @follows_a_wait(%a: i64, %b: i64, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: nvvm.wgmma.wait
  // CHECK: scf.for
  // CHECK-NEXT: nvvm.wgmma.fence
  %f = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
  %first = "smem.wait"(%f) {pending = 0 : i32} : (!d) -> !c
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %first) -> !c {
    %s = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !d
    %read = builtin.unrealized_conversion_cast %acc : !c to f32
    %m = "smem.mma_desc"(%a, %b, %acc) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !c) -> !d
    %next = "smem.wait"(%m) {pending = 0 : i32} : (!d) -> !c
    scf.yield %next : !c
  }
  return
}
