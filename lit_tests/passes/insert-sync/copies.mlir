// Groups of copies, fences and barriers outside of loops.

// RUN: smem-opt %s --smem-insert-sync --split-input-file | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>

// One fence and one barrier for both copies, before the loop that only reads.
// CHECK-LABEL: func.func @before_a_loop
// CHECK-COUNT-2: "smem.copy"
// CHECK-NEXT: "smem.fill"
// CHECK-NEXT: "smem.fence"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.for
// CHECK-NEXT: "smem.mma"
// CHECK-NEXT: scf.yield
func.func @before_a_loop(%m: !m, %o: memref<64x64xf32>, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  "smem.copy"(%m, %b) : (!m, !t) -> ()
  %start = "smem.fill"(%zero) : (f32) -> !c
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %start) -> (!c) {
    %d = "smem.mma"(%a, %b, %x) : (!t, !t, !c) -> !c
    scf.yield %d : !c
  }
  "smem.store"(%sum, %o) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!s = !smem.tile<tensor<3x64x64xf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xf16>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf16>, #smem.accumulator>
!m = memref<64x64xf16>

// Copies to different stages are groups of their own, so that each is waited for when it is needed.
// CHECK-LABEL: func.func @a_group_for_each_stage
// CHECK: "smem.copy_async"
// CHECK-NEXT: "smem.copy_commit"
// CHECK-NEXT: "smem.copy_async"
// CHECK-NEXT: "smem.copy_commit"
// CHECK-NEXT: "smem.copy_wait"() {pending = 1 : i32}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.load"
// CHECK-NEXT: "smem.store"
// CHECK-NEXT: "smem.copy_wait"() {pending = 0 : i32}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.load"
func.func @a_group_for_each_stage(%m: !m, %o: !m, %p: !m) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %x = "smem.stage"(%s, %c0) : (!s, index) -> !t
  %y = "smem.stage"(%s, %c1) : (!s, index) -> !t
  "smem.copy_async"(%m, %x) : (!m, !t) -> ()
  "smem.copy_async"(%m, %y) : (!m, !t) -> ()
  %a = "smem.load"(%x) : (!t) -> !f
  "smem.store"(%a, %o) : (!f, !m) -> ()
  %b = "smem.load"(%y) : (!t) -> !f
  "smem.store"(%b, %p) : (!f, !m) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf16>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf16>, #smem.accumulator>
!m = memref<64x64xf16>

// What is synchronized in part gets what is missing; the barrier that is there serves.
// CHECK-LABEL: func.func @in_part
// CHECK: "smem.copy_async"
// CHECK-NEXT: "smem.copy_commit"
// CHECK-NEXT: "smem.copy_wait"() {pending = 0 : i32}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.load"
// CHECK-NEXT: "smem.store"
// CHECK-NEXT: return
func.func @in_part(%m: !m, %o: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !f
  "smem.store"(%a, %o) : (!f, !m) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf16>, #smem.auto>
!m = memref<64x64xf16>

// One copy overwrites another in the same branch.
// CHECK-LABEL: func.func @in_a_branch
// CHECK: scf.if
// CHECK-NEXT: "smem.copy_async"
// CHECK-NEXT: "smem.copy_commit"
// CHECK-NEXT: "smem.copy_wait"() {pending = 0 : i32}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.copy_async"
// CHECK-NEXT: }
func.func @in_a_branch(%m: !m, %n: !m, %c: i1) {
  %t = "smem.alloc"() : () -> !t
  scf.if %c {
    "smem.copy_async"(%m, %t) : (!m, !t) -> ()
    "smem.copy_async"(%n, %t) : (!m, !t) -> ()
  }
  return
}
