// Programs in order: no remarks, and no changes. One remark is expected at the end, so any other fails the
// test.

// RUN: smem-opt %s --smem-check-async --verify-diagnostics
// RUN: smem-opt %s -o %t.before
// RUN: smem-opt %s --smem-check-async 2> %t.stderr | diff %t.before -

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!s = !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

func.func @copy(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// A fence anywhere between the write and the read is enough.
func.func @fence_after_the_barrier(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  nvvm.barrier
  "smem.fence"() : () -> ()
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

func.func @overwritten_after_the_wait(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  "smem.copy_wait"() {pending = 0 : i32} : () -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !d
  gpu.barrier
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// A copy from a tile to a tile needs barriers only, until an mma reads what it wrote.
func.func @from_a_tile(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  "smem.copy"(%t, %u) : (!t, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  %d = "smem.mma"(%u, %u) : (!t, !t) -> !d
  return
}

// Two halves of a tile have no bytes in common.
!h = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
!both = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @halves(%m: !m) {
  %t = "smem.alloc"() : () -> !both
  %low = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!both) -> !h
  %high = "smem.subtile"(%t) {static_offsets = array<i64: 64, 0>} : (!both) -> !h
  "smem.copy"(%m, %low) : (!m, !h) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%low, %low) : (!h, !h) -> !d
  "smem.copy"(%m, %high) : (!m, !h) -> ()
  return
}

// A stage number that two loops carry.
func.func @carried_stage(%m: !m, %n: index, %tiles: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %end = scf.for %i = %c0 to %tiles step %c1 iter_args(%outer = %c0) -> (index) {
    %last = scf.for %j = %c0 to %n step %c1 iter_args(%stage = %outer) -> (index) {
      %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
      "smem.copy"(%m, %t) : (!m, !t) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier
      %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
      %w = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !d
      gpu.barrier
      %next = arith.addi %stage, %c1 : index
      %wraps = arith.cmpi eq, %next, %c2 : index
      %following = arith.select %wraps, %c0, %next : index
      scf.yield %following : index
    }
    scf.yield %last : index
  }
  return
}

!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// Threads load what other threads copied: a barrier, and no fence.
func.func @loaded(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  gpu.barrier
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// Each thread waits for its cp.async, then all meet at a barrier.
func.func @loaded_after_copy_async(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  "smem.copy_wait"() {pending = 0 : i32} : () -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// An accumulator is stored to a tile for another mma, and again when that is complete.
func.func @stored(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
  gpu.barrier
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// An accumulator is stored to a tile for other threads.
func.func @exchanged(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  gpu.barrier
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// Loads are no hazard for other loads, nor for mma.
func.func @read_by_both(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  %again = "smem.load"(%t) : (!t) -> !a
  return
}

// A stage that is loaded while the other is copied to.
func.func @stages(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  scf.for %i = %c0 to %n step %c1 {
    %stage = arith.remui %i, %c2 : index
    %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    gpu.barrier
    %a = "smem.load"(%t) : (!t) -> !a
  }
  return
}

// A fragment of global memory has no tile.
func.func @global(%g: memref<64x64xf32>) {
  %c = "smem.load"(%g) : (memref<64x64xf32>) -> !c
  "smem.store"(%c, %g) : (!c, memref<64x64xf32>) -> ()
  return
}

// The region of an smem.map is executed at its op.
func.func @barrier_in_a_region(%m: !m, %c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  %q = "smem.map"(%c) ({
  ^bb0(%v: f32):
    gpu.barrier
    gpu.yield %v : f32
  }) : (!c) -> !c
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// The expected remark.
func.func @not_proven(%m: !m, %g: memref<8xindex>) {
  %s = "smem.alloc"() : () -> !s
  %c0 = arith.constant 0 : index
  %stage = memref.load %g[%c0] : memref<8xindex>
  %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
  %u = "smem.stage"(%s, %c0) : (!s, index) -> !t
  "smem.copy"(%m, %u) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-remark@+1 {{begins at a stage that is not known}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  // expected-remark@+1 {{cannot prove that the smem.copy at}}
  %d = "smem.mma"(%u, %u) : (!t, !t) -> !d
  return
}
