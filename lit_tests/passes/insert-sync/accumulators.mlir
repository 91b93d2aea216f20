// Accumulators are in flight as long as only mma add to them; something that reads one waits right before it.

// RUN: smem-opt %s --smem-insert-sync --split-input-file | FileCheck %s

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!o = memref<64x64xf32>

// The first result is read while the second mma runs.
// CHECK-LABEL: func.func @two_in_flight
// CHECK: %[[D:.*]] = "smem.mma"
// CHECK-NEXT: %[[E:.*]] = "smem.mma"
// CHECK-NEXT: %[[READ:.*]] = "smem.wait"(%[[D]]) {pending = 1 : i32} : {{.*}} -> {{.*}} #smem.accumulator>
// CHECK-NEXT: "smem.store"(%[[READ]],
// CHECK-NEXT: %[[LAST:.*]] = "smem.wait"(%[[E]]) {pending = 0 : i32}
// CHECK-NEXT: "smem.store"(%[[LAST]],
func.func @two_in_flight(%a: !m, %o: !o, %p: !o) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%a, %t) : (!m, !t) -> ()
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !c
  %e = "smem.mma"(%t, %t) : (!t, !t) -> !c
  "smem.store"(%d, %o) : (!c, !o) -> ()
  "smem.store"(%e, %p) : (!c, !o) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!o = memref<64x64xf32>

// What has two uses is read by both: its registers cannot be copied in flight.
// CHECK-LABEL: func.func @two_uses
// CHECK: %[[D:.*]] = "smem.mma"
// CHECK-NEXT: %[[READ:.*]] = "smem.wait"(%[[D]]) {pending = 0 : i32}
// CHECK-NEXT: %[[E:.*]] = "smem.mma"(%{{.*}}, %{{.*}}, %[[READ]]) : {{.*}} #smem.accumulator>) -> {{.*}} #smem.in_flight>
// CHECK-NEXT: "smem.store"(%[[READ]],
// CHECK-NEXT: "smem.wait"(%[[E]])
func.func @two_uses(%a: !m, %o: !o, %p: !o) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%a, %t) : (!m, !t) -> ()
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !c
  %e = "smem.mma"(%t, %t, %d) : (!t, !t, !c) -> !c
  "smem.store"(%d, %o) : (!c, !o) -> ()
  "smem.store"(%e, %p) : (!c, !o) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!o = memref<64x64xf32>

// Nested loops carry it in flight. The fill is used twice, so the loop begins with another one.
// CHECK-LABEL: func.func @nested_loops
// CHECK: %[[FILL:.*]] = "smem.fill"({{.*}} #smem.in_flight>
// CHECK-NEXT: %[[READ:.*]] = "smem.fill"({{.*}} #smem.accumulator>
// CHECK: scf.for {{.*}} iter_args(%[[OUTER:.*]] = %[[FILL]]) -> ({{.*}} #smem.in_flight>)
// CHECK-NEXT: scf.for {{.*}} iter_args(%[[INNER:.*]] = %[[OUTER]]) -> ({{.*}} #smem.in_flight>)
// CHECK-NEXT: %[[KEPT:.*]] = "smem.scale_d"(%[[INNER]], %{{.*}}) : {{.*}} -> {{.*}} #smem.in_flight>
// CHECK-NEXT: "smem.mma"(%{{.*}}, %{{.*}}, %[[KEPT]])
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield
// CHECK-NEXT: }
// CHECK-NEXT: "smem.store"(%[[READ]],
func.func @nested_loops(%a: !m, %o: !o, %p: !o, %n: index, %keep: i1, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%a, %t) : (!m, !t) -> ()
  %start = "smem.fill"(%zero) : (f32) -> !c
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %start) -> (!c) {
    %row = scf.for %j = %c0 to %n step %c1 iter_args(%y = %x) -> (!c) {
      %kept = "smem.scale_d"(%y, %keep) : (!c, i1) -> !c
      %d = "smem.mma"(%t, %t, %kept) : (!t, !t, !c) -> !c
      scf.yield %d : !c
    }
    scf.yield %row : !c
  }
  "smem.store"(%start, %o) : (!c, !o) -> ()
  "smem.store"(%sum, %p) : (!c, !o) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!o = memref<64x64xf32>

// A loop that begins with what was read carries it readable.
// CHECK-LABEL: func.func @begins_with_a_load
// CHECK: scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}) -> ({{.*}} #smem.accumulator>)
// CHECK-NEXT: %[[D:.*]] = "smem.mma"(%{{.*}}, %{{.*}}, %[[ACC]])
// CHECK-NEXT: %[[READ:.*]] = "smem.wait"(%[[D]]) {pending = 0 : i32} : {{.*}} -> {{.*}} #smem.accumulator>
// CHECK-NEXT: scf.yield %[[READ]]
func.func @begins_with_a_load(%a: !m, %o: !o, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%a, %t) : (!m, !t) -> ()
  %start = "smem.load"(%o) : (!o) -> !c
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %start) -> (!c) {
    %d = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
    scf.yield %d : !c
  }
  "smem.store"(%sum, %o) : (!c, !o) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!o = memref<64x64xf32>

// The mma reads registers of A that the next iteration writes, so the wait is in the loop. A wait that a reader
// needs later comes as early as a copy needs it.
// CHECK-LABEL: func.func @registers
// CHECK: scf.for
// CHECK: %[[WAITED:.*]] = "smem.wait"(%{{.*}}) {pending = 0 : i32} : {{.*}} -> {{.*}} #smem.in_flight>
// CHECK-NEXT: "smem.load"
// CHECK-NEXT: "smem.mma"(%{{.*}}, %{{.*}}, %[[WAITED]])
// CHECK-NEXT: scf.yield
// CHECK: %[[DONE:.*]] = "smem.wait"(%{{.*}}) {pending = 0 : i32} : {{.*}} -> {{.*}} #smem.accumulator>
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.copy"
// CHECK-NEXT: "smem.store"(%[[DONE]],
func.func @registers(%g: !m, %o: !o, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %t) : (!m, !t) -> ()
  %start = "smem.fill"(%zero) : (f32) -> !c
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %start) -> (!c) {
    %a = "smem.load"(%t) : (!t) -> !a
    %d = "smem.mma"(%a, %t, %x) : (!a, !t, !c) -> !c
    scf.yield %d : !c
  }
  "smem.copy"(%g, %t) : (!m, !t) -> ()
  "smem.store"(%sum, %o) : (!c, !o) -> ()
  return
}
