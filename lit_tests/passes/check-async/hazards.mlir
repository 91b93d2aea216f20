// Accesses of tiles that are out of order (RAW, WAR), one error each.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @nothing_between(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over; put smem.fence and gpu.barrier between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

// A fence and a barrier before the copy do not order it.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @no_fence(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.fence"() : () -> ()
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  // expected-error@+1 {{is over; put smem.fence between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @no_group(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  "smem.copy_wait"() {pending = 0 : i32} : () -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-error-re@+1 {{before the smem.copy_async at {{[0-9:]+}} is over; put smem.copy_commit, smem.copy_wait with pending = 0, smem.fence and gpu.barrier between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

// A wait that leaves one group pending does not complete the latest one.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @pending(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  "smem.copy_commit"() : () -> ()
  "smem.copy_wait"() {pending = 2 : i32} : () -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-error@+1 {{put smem.copy_wait with pending = 1 or less, smem.fence and gpu.barrier between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @overwritten(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  // expected-error-re@+1 {{'smem.copy_async' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.mma at {{[0-9:]+}} is over; put smem.wait with pending = 0 and gpu.barrier between them}}
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

// Without a barrier, other warpgroups may not have waited yet.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @no_barrier_after_the_wait(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !d
  // expected-error@+1 {{is over; put gpu.barrier between them}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

// A hazard between iterations.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @loop(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  scf.for %i = %c0 to %n step %c1 {
    %stage = arith.remui %i, %c2 : index
    %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
    // expected-error-re@+1 {{'smem.copy' op overwrites stage 0 of the smem.alloc at {{[0-9:]+}} before the smem.mma at {{[0-9:]+}} is over, in iteration 2 (from 0) of the loop at {{[0-9:]+}}; put smem.wait with pending = 1 or less and gpu.barrier between them}}
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  }
  return
}

// -----

// A hazard only if a condition is true.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @branch(%m: !m, %c: i1) {
  %t = "smem.alloc"() : () -> !t
  scf.if %c {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  gpu.barrier
  // expected-error@+1 {{put smem.fence between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @never_written() {
  %t = "smem.alloc"() : () -> !t
  // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}}, which nothing writes}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

// Other threads load than those that copied.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @loaded_too_early(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  // expected-error-re@+1 {{'smem.load' op reads the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over; put gpu.barrier between them}}
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

// A fence does not order a load: it orders accesses of the tensor cores.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @fence_for_a_load(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  // expected-error-re@+1 {{'smem.load' op reads the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over; put gpu.barrier between them}}
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @copy_async_not_waited_for(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.load' op reads the smem.alloc at {{[0-9:]+}} before the smem.copy_async at {{[0-9:]+}} is over; put smem.copy_wait with pending = 0 and gpu.barrier between them}}
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

// Other threads may still be loading.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @overwritten_by_a_copy(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  // expected-error-re@+1 {{'smem.copy' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.load at {{[0-9:]+}} is over; put gpu.barrier between them}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @overwritten_by_a_store(%m: !m, %c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  %a = "smem.load"(%t) : (!t) -> !a
  // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.load at {{[0-9:]+}} is over; put gpu.barrier between them}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @stored_and_loaded(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  // expected-error-re@+1 {{'smem.load' op reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put gpu.barrier between them}}
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

// smem.store writes by the generic proxy, as smem.copy does.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @stored_without_fence(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put smem.fence between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @stored_without_barrier(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  "smem.fence"() : () -> ()
  // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put gpu.barrier between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @stored_before_the_wait(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.mma at {{[0-9:]+}} is over; put smem.wait with pending = 0 and gpu.barrier between them}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @stored_before_others_have_waited(%c: !c) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%c, %t) : (!c, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
  // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.mma at {{[0-9:]+}} is over; put gpu.barrier between them}}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

// B of a sparse mma; its A and metadata are in registers.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!ra = !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>
!e = !smem.fragment<tensor<64x64xbf16>, #smem.metadata>
func.func @sparse(%m: !m, %a: !ra, %e: !e) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.mma_sp' op reads the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over; put smem.fence between them}}
  %d = "smem.mma_sp"(%a, %t, %e) : (!ra, !t, !e) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @loaded_but_never_written() {
  %t = "smem.alloc"() : () -> !t
  // expected-error-re@+1 {{'smem.load' op reads the smem.alloc at {{[0-9:]+}}, which nothing writes}}
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

// The barrier at the head of the next iteration comes too late.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @too_late(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %first = "smem.stage"(%s, %c0) : (!s, index) -> !t
  "smem.copy"(%m, %first) : (!m, !t) -> ()
  scf.for %i = %c0 to %n step %c1 {
    %stage = arith.remui %i, %c2 : index
    gpu.barrier
    %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
    %a = "smem.load"(%t) : (!t) -> !a
    // expected-error-re@+1 {{'smem.copy' op overwrites stage 0 of the smem.alloc at {{[0-9:]+}} before the smem.load at {{[0-9:]+}} is over; put gpu.barrier between them}}
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  return
}

// -----

// A copy from a tile is a load of it: no fence is needed, but a barrier is.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
func.func @copied_too_early(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  // expected-error-re@+1 {{'smem.copy' op reads the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over; put gpu.barrier between them}}
  "smem.copy"(%t, %u) : (!t, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
func.func @overwritten_too_early(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  "smem.copy"(%t, %u) : (!t, !t) -> ()
  // expected-error-re@+1 {{'smem.copy' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over; put gpu.barrier between them}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

// What it wrote is visible to an mma only after a fence.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @no_fence_after_it(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.copy"(%t, %u) : (!t, !t) -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over; put smem.fence between them}}
  %d = "smem.mma"(%u, %u) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @nothing_to_copy() {
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  // expected-error-re@+1 {{'smem.copy' op reads the smem.alloc at {{[0-9:]+}}, which nothing writes}}
  "smem.copy"(%t, %u) : (!t, !t) -> ()
  return
}

// -----

// 32 of the 64 rows are read and written.

!t = !smem.tile<tensor<96x64xbf16>, #smem.swizzle<"128B", "row-major">>
!p = !smem.tile<tensor<64x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">>
!m = memref<96x64xbf16>
func.func @onto_itself(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  %low = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !p
  %high = "smem.subtile"(%t) {static_offsets = array<i64: 32, 0>} : (!t) -> !p
  // expected-error-re@+1 {{'smem.copy' op reads and writes the same bytes of the smem.alloc at {{[0-9:]+}}; copy to a subtile that does not overlap the other}}
  "smem.copy"(%low, %high) : (!p, !p) -> ()
  return
}
