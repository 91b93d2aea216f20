// Programs in order: nothing is said, and nothing changes. Because one remark is expected at the end,
// any other would fail the test.

// RUN: smem-opt %s --smem-check-async --verify-diagnostics
// RUN: smem-opt %s -o %t.before
// RUN: smem-opt %s --smem-check-async 2> %t.said | diff %t.before -

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

// From a tile to a tile: barriers are enough, until an mma reads what was written.
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

// Two halves of a tile are two tiles.
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

// A slot that is counted by hand, through two loops.
func.func @counted_slots(%m: !m, %n: index, %tiles: index, %f: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %end = scf.for %i = %c0 to %tiles step %c1 iter_args(%outer = %c0) -> (index) {
    %last = scf.for %j = %c0 to %n step %c1 iter_args(%slot = %outer) -> (index) {
      %t = "smem.stage"(%s, %slot) : (!s, index) -> !t
      "smem.copy"(%m, %t) : (!m, !t) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier
      %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
      %w = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !d
      gpu.barrier
      %next = arith.addi %slot, %c1 : index
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

// cp.async is waited for by the thread that did it, then by all.
func.func @loaded_after_copy_async(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  "smem.copy_wait"() {pending = 0 : i32} : () -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// An accumulator goes through a tile to another mma, and again when that is over.
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

// What goes through a tile to other threads.
func.func @exchanged(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  gpu.barrier
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// Loads do not disturb each other, nor mma that read.
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
    %slot = arith.remui %i, %c2 : index
    %t = "smem.stage"(%s, %slot) : (!s, index) -> !t
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

// The region of an smem.map is run in the place of its op.
func.func @barrier_in_a_region(%m: !m, %c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  %q = "smem.map"(%c) ({
  ^bb0(%v: f32):
    gpu.barrier
    "smem.yield"(%v) : (f32) -> ()
  }) : (!c) -> !c
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// The one thing that is not known.
func.func @undecided(%m: !m, %g: memref<8xindex>) {
  %s = "smem.alloc"() : () -> !s
  %c0 = arith.constant 0 : index
  %slot = memref.load %g[%c0] : memref<8xindex>
  %t = "smem.stage"(%s, %slot) : (!s, index) -> !t
  %u = "smem.stage"(%s, %c0) : (!s, index) -> !t
  "smem.copy"(%m, %u) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  // expected-remark@+1 {{cannot prove that the smem.copy at}}
  %d = "smem.mma"(%u, %u) : (!t, !t) -> !d
  return
}
