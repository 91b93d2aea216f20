// Arrays in global memory that a kernel writes and reads.

// RUN: smem-opt %s --smem-insert-sync --split-input-file | FileCheck %s

!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<128x64xf32>
!w = memref<64x64xf32, strided<[64, 1]>>
!v = memref<64x64xf32, strided<[64, 1], offset: 4096>>

// Other threads may have written what a thread reads, and the other way around.
// CHECK-LABEL: func.func @other_windows
// CHECK: "smem.store"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.load"
// CHECK-NEXT: "smem.store"
// CHECK-NEXT: return
func.func @other_windows(%m: !m, %x: !f) {
  %w = memref.subview %m[0, 0] [64, 64] [1, 1] : !m to !w
  %v = memref.subview %m[64, 0] [64, 64] [1, 1] : !m to !v
  "smem.store"(%x, %v) : (!f, !v) -> ()
  %y = "smem.load"(%w) : (!w) -> !f
  "smem.store"(%y, %w) : (!f, !w) -> ()
  return
}

// -----

!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<128x64xf32>
!w = memref<64x64xf32, strided<[64, 1], offset: ?>>

// A thread reads and writes the same elements of one window; two arguments are two arrays.
// CHECK-LABEL: func.func @same_threads
// CHECK-NOT: gpu.barrier
// CHECK: return
func.func @same_threads(%m: !m, %n: !m, %i: index) {
  %w = memref.subview %m[%i, 0] [64, 64] [1, 1] : !m to !w
  %again = memref.subview %m[%i, 0] [64, 64] [1, 1] : !m to !w
  %v = memref.subview %n[%i, 0] [64, 64] [1, 1] : !m to !w
  %x = "smem.load"(%w) : (!w) -> !f
  "smem.store"(%x, %again) : (!f, !w) -> ()
  "smem.store"(%x, %v) : (!f, !w) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>

// One iteration writes what the next one copies; the barriers of the tile do for both.
// CHECK-LABEL: func.func @iterations
// CHECK: scf.for
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.copy"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.load"
// CHECK-NEXT: "smem.store"
// CHECK-NEXT: }
func.func @iterations(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  scf.for %i = %c0 to %n step %c1 {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    %x = "smem.load"(%t) : (!t) -> !f
    "smem.store"(%x, %m) : (!f, !m) -> ()
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>

// In place: what TMA writes is read when its group is complete, not when the tile has been read alone. What
// threads have read is fenced before TMA overwrites it.
// CHECK-LABEL: func.func @stored_by_tma
// CHECK: "smem.copy"
// CHECK-NEXT: "smem.fence"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.elect"
// CHECK-NEXT: "smem.tma_store"
// CHECK-NEXT: "smem.tma_commit"
// CHECK-NEXT: }
// CHECK-NEXT: "smem.elect"
// CHECK-NEXT: "smem.tma_wait"() {pending = 0 : i32}
// CHECK-NEXT: }
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.load"
func.func @stored_by_tma(%m: !m, %out: !m) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.elect"() ({
    "smem.tma_store"(%t, %m, %c0, %c0) : (!t, !m, index, index) -> ()
  }) {scope = "cta"} : () -> ()
  %x = "smem.load"(%m) : (!m) -> !f
  "smem.store"(%x, %out) : (!f, !m) -> ()
  return
}
