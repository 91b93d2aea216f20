// Waits, fences and barriers in an `scf.while`, whose iterations are followed as those of an `scf.for`.

// RUN: smem-opt %s --smem-insert-sync --split-input-file | FileCheck %s
// RUN: smem-opt %s --smem-insert-sync --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>

// The tile is written by the next iteration: a barrier after the wait, and one before the mma.
// CHECK-LABEL: func.func @condition_first
// CHECK: scf.while
// CHECK: scf.condition
// CHECK: do
// CHECK: gpu.barrier
// CHECK-NEXT: "smem.copy"
// CHECK-NEXT: "smem.fence"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.mma"
// CHECK: "smem.wait"
// CHECK: scf.yield
func.func @condition_first(%m: !m, %o: memref<64x64xf32>, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = "smem.alloc"() : () -> !t
  %start = "smem.fill"(%zero) : (f32) -> !c
  %end:2 = scf.while (%i = %c0, %x = %start) : (index, !c) -> (index, !c) {
    %goes_on = arith.cmpi ult, %i, %n : index
    scf.condition(%goes_on) %i, %x : index, !c
  } do {
  ^bb0(%i: index, %x: !c):
    "smem.copy"(%m, %a) : (!m, !t) -> ()
    %d = "smem.mma"(%a, %a, %x) : (!t, !t, !c) -> !c
    %next = arith.addi %i, %c1 : index
    scf.yield %next, %d : index, !c
  }
  "smem.store"(%end#1, %o) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>

// As the kernel language builds it: the body is in the first region.
// CHECK-LABEL: func.func @condition_last
// CHECK: scf.while
// CHECK: gpu.barrier
// CHECK-NEXT: "smem.copy"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.load"
// CHECK: scf.condition
func.func @condition_last(%m: !m, %o: memref<64x64xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = "smem.alloc"() : () -> !t
  %end = scf.while (%i = %c0) : (index) -> index {
    "smem.copy"(%m, %a) : (!m, !t) -> ()
    %x = "smem.load"(%a) : (!t) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
    "smem.store"(%x, %o) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, memref<64x64xf32>) -> ()
    %next = arith.addi %i, %c1 : index
    %goes_on = arith.cmpi ult, %next, %n : index
    scf.condition(%goes_on) %next : index
  } do {
  ^bb0(%i: index):
    scf.yield %i : index
  }
  return
}
