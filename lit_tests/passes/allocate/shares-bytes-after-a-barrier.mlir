// Two tiles share bytes if a barrier of the whole CTA is between the last use of one and the first use of the other.
// An asynchronous use is complete only after a wait for it and a barrier.

// RUN: smem-opt %s --smem-allocate | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// CHECK: func.func @barrier
// CHECK-SAME: smem.shared_bytes = 8192 : i32
func.func @barrier(%m: !m) {
  // CHECK-NEXT: "smem.alloc"() {offset = 0 : i64}
  %a = "smem.alloc"() : () -> !t
  // CHECK-NEXT: "smem.alloc"() {offset = 0 : i64}
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  gpu.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// CHECK: func.func @no_barrier
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @no_barrier(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  gpu.barrier
  return
}

// CHECK: func.func @nvvm_barrier
// CHECK-SAME: smem.shared_bytes = 8192 : i32
func.func @nvvm_barrier(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  nvvm.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// A barrier that some threads may not reach.
// CHECK: func.func @conditional_barrier
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @conditional_barrier(%m: !m, %c: i1) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  scf.if %c {
    gpu.barrier
  }
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// A use in a loop lasts until the end of the loop, even if the loop has a barrier.
// CHECK: func.func @loop
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @loop(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  scf.for %i = %c0 to %n step %c1 {
    "smem.copy"(%m, %a) : (!m, !t) -> ()
    gpu.barrier
    "smem.copy"(%m, %b) : (!m, !t) -> ()
    gpu.barrier
  }
  return
}

// CHECK: func.func @two_loops
// CHECK-SAME: smem.shared_bytes = 8192 : i32
func.func @two_loops(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  scf.for %i = %c0 to %n step %c1 {
    "smem.copy"(%m, %a) : (!m, !t) -> ()
  }
  gpu.barrier
  scf.for %i = %c0 to %n step %c1 {
    "smem.copy"(%m, %b) : (!m, !t) -> ()
  }
  return
}

// The use of a subtile is a use of the tile.
// CHECK: func.func @subtiles
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @subtiles(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  %p = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!t) -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  gpu.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  "smem.copy"(%m, %p) : (!m, !t) -> ()
  return
}

// CHECK: func.func @copy_async_waited_for
// CHECK-SAME: smem.shared_bytes = 8192 : i32
func.func @copy_async_waited_for(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %a) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  "smem.copy_wait"() {pending = 0 : i32} : () -> ()
  gpu.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// CHECK: func.func @copy_async_pending
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @copy_async_pending(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %a) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  "smem.copy_wait"() {pending = 1 : i32} : () -> ()
  gpu.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// CHECK: func.func @mma_waited_for
// CHECK-SAME: smem.shared_bytes = 8192 : i32
func.func @mma_waited_for(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  %d = "smem.mma"(%a, %a) : (!t, !t) -> !d
  %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !d
  gpu.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// CHECK: func.func @mma_pending
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @mma_pending(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  %d = "smem.mma"(%a, %a) : (!t, !t) -> !d
  %w = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !d
  gpu.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// A barrier before the wait is not enough: other warpgroups may still be reading.
// CHECK: func.func @mma_waited_for_after_the_barrier
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @mma_waited_for_after_the_barrier(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  %d = "smem.mma"(%a, %a) : (!t, !t) -> !d
  gpu.barrier
  %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !d
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// In a function of several basic blocks, all tiles are live together.
// CHECK: func.func @several_blocks
// CHECK-SAME: smem.shared_bytes = 16384 : i32
func.func @several_blocks(%m: !m) {
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  gpu.barrier
  cf.br ^next
^next:
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}

// Smaller tiles share the bytes of a larger one: a and c are live together, b with neither.
// CHECK: func.func @fits_a_gap
// CHECK-SAME: smem.shared_bytes = 24576 : i32
!large = !smem.tile<tensor<128x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @fits_a_gap(%m: !m, %l: memref<128x64xbf16>) {
  // CHECK-NEXT: {offset = 16384 : i64} : () -> !smem.tile<tensor<64x64xbf16>
  %a = "smem.alloc"() : () -> !t
  // CHECK-NEXT: {offset = 0 : i64} : () -> !smem.tile<tensor<64x64xbf16>
  %b = "smem.alloc"() : () -> !t
  // CHECK-NEXT: {offset = 0 : i64} : () -> !smem.tile<tensor<128x64xbf16>
  %c = "smem.alloc"() : () -> !large
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  "smem.copy"(%l, %c) : (memref<128x64xbf16>, !large) -> ()
  gpu.barrier
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  return
}
