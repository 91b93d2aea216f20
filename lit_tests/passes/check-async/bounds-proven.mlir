// Run-time starts that are within their tiles: the last ones that fit, by the ops that compute them, the loops and the conditions
// around their accesses. Each function would leave its tile if one number in it were larger by one.

// RUN: smem-opt %s --smem-check-async --verify-diagnostics

!s = !smem.tile<tensor<4x64x64xf32>, #smem.auto>
!p = !smem.tile<tensor<128x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!r = !smem.tile<tensor<64x32xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
!m4 = memref<128x64xf32>

func.func @warpgroups(%m: !m4) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %thread = gpu.thread_id x
  %w = arith.divui %thread, %c128 : index
  %row = arith.muli %w, %c64 : index
  %p = "smem.alloc"() : () -> !p
  "smem.copy"(%m, %p) : (!m4, !p) -> ()
  gpu.barrier
  %t = "smem.subtile"(%p, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!p, index) -> !t
  %c = "smem.load"(%t) : (!t) -> !c
  return
}

func.func @whole_tile_of_one_warpgroup(%m: !m) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %thread = gpu.thread_id x
  %w = arith.divui %thread, %c128 : index
  %row = arith.muli %w, %c64 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  %u = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !t
  %c = "smem.load"(%u) : (!t) -> !c
  return
}

// The subtile is outside for the second warpgroup, which does not access it.
func.func @under_a_condition(%m: !m, %x: i1) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %thread = gpu.thread_id x
  %w = arith.divui %thread, %c128 : index
  %row = arith.muli %w, %c64 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  %u = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !t
  %inside = arith.cmpi slt, %row, %c64 : index
  %both = arith.andi %inside, %x : i1
  scf.if %both {
    %c = "smem.load"(%u) : (!t) -> !c
  }
  %outside = arith.cmpi uge, %w, %c1 : index
  %either = arith.ori %outside, %x : i1
  scf.if %either {
  } else {
    %c = "smem.load"(%u) : (!t) -> !c
  }
  return
}

// Conditions on another number than the start; their difference is a constant.
func.func @iterations(%m: !m, %n: index, %x: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c32 = arith.constant 32 : index
  %s = "smem.alloc"() : () -> !s
  %upper = arith.minsi %n, %c4 : index
  scf.for %i = %c0 to %upper step %c1 {
    %t = "smem.stage"(%s, %i) : (!s, index) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  scf.for %i = %c0 to %n step %c1 {
    %modulus = arith.remui %i, %c4 : index
    %t = "smem.stage"(%s, %modulus) : (!s, index) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    // What is left of a quotient that rounds down, too, as `%` of Python does it.
    %left = arith.subi %i, %n : index
    %quotient = arith.floordivsi %left, %c4 : index
    %whole = arith.muli %quotient, %c4 : index
    %floored = arith.subi %left, %whole : index
    %u = "smem.stage"(%s, %floored) : (!s, index) -> !t
    "smem.copy"(%m, %u) : (!m, !t) -> ()
    %next = arith.addi %i, %c1 : index
    %last = arith.cmpi sle, %next, %c4 : index
    scf.if %last {
      %v = "smem.stage"(%s, %i) : (!s, index) -> !t
      "smem.copy"(%m, %v) : (!m, !t) -> ()
    }
  }
  // From another loop's iteration on, so that the difference is known.
  scf.for %i = %c0 to %n step %c4 {
    %end = arith.addi %i, %c4 : index
    scf.for %j = %i to %end step %c1 {
      %stage = arith.subi %j, %i : index
      %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
      "smem.copy"(%m, %t) : (!m, !t) -> ()
    }
  }
  // Steps from 0 to 2 and 4; halves are stages.
  scf.for %i = %c0 to %c6 step %c2 {
    %half = arith.shrui %i, %c1 : index
    %odd = arith.addi %half, %c1 : index
    %t = "smem.stage"(%s, %odd) : (!s, index) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  %chosen = scf.if %x -> (index) {
    scf.yield %c3 : index
  } else {
    scf.yield %c0 : index
  }
  %t = "smem.stage"(%s, %chosen) : (!s, index) -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  return
}

// Numbers that a loop carries: stages that begin again, and a phase.
func.func @carried(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %s = "smem.alloc"() : () -> !s
  %p = "smem.alloc"() : () -> !t
  %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%stage = %c0, %phase = %c0) -> (index, index) {
    %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    %column = arith.muli %phase, %c32 : index
    %u = "smem.subtile"(%p, %column) {static_offsets = array<i64: 0, -9223372036854775808>} : (!t, index) -> !r
    %zero = arith.constant 0.0 : f32
    %f = "smem.fill"(%zero) : (f32) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
    "smem.store"(%f, %u) : (!smem.fragment<tensor<64x32xf32>, #smem.accumulator>, !r) -> ()
    gpu.barrier
    %following = arith.addi %stage, %c1 : index
    %wraps = arith.cmpi eq, %following, %c4 : index
    %next = arith.select %wraps, %c0, %following : index
    %other = arith.xori %phase, %c1 : index
    %flipped = arith.select %wraps, %other, %phase : index
    scf.yield %next, %flipped : index, index
  }
  %t = "smem.stage"(%s, %end#0) : (!s, index) -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  return
}
