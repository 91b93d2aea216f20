// Bytes that are written again before the first write is complete (WAW).

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
func.func @copies_in_flight(%a: !m, %b: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy_async"(%a, %t) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.copy_async' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.copy_async at {{[0-9:]+}} is over; put smem.copy_wait with pending = 0 and gpu.barrier between them}}
  "smem.copy_async"(%b, %t) : (!m, !t) -> ()
  "smem.copy_commit"() : () -> ()
  return
}

// -----

// The same copy again, in a loop that does not wait for it.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
func.func @same_copy_in_flight(%a: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  scf.for %i = %c0 to %n step %c1 {
    // expected-error-re@+1 {{'smem.copy_async' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.copy_async at {{[0-9:]+}} is over, in iteration 1 (from 0) of the loop at {{[0-9:]+}}; put smem.copy_wait with pending = 0 and gpu.barrier between them}}
    "smem.copy_async"(%a, %t) : (!m, !t) -> ()
    "smem.copy_commit"() : () -> ()
  }
  return
}

// -----

// A warpgroup stores what it holds, then all threads copy: different threads write the same bytes.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
func.func @store_then_copy(%a: !m, %zero: f32) {
  %t = "smem.alloc"() : () -> !t
  %f = "smem.fill"(%zero) : (f32) -> !c
  "smem.store"(%f, %t) : (!c, !t) -> ()
  // expected-error-re@+1 {{'smem.copy' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put gpu.barrier between them}}
  "smem.copy"(%a, %t) : (!m, !t) -> ()
  return
}

// -----

// After an inner loop, the last write is the copy, or if that loop has no iterations, the same store.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
func.func @store_again_or_after_copies(%a: !m, %zero: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %f = "smem.fill"(%zero) : (f32) -> !c
  scf.for %i = %c0 to %n step %c1 {
    // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.copy at {{[0-9:]+}} is over, in iteration 1 (from 0) of the loop at {{[0-9:]+}}; put gpu.barrier between them}}
    "smem.store"(%f, %t) : (!c, !t) -> ()
    scf.for %j = %c0 to %n step %c1 {
      gpu.barrier
      "smem.copy"(%a, %t) : (!m, !t) -> ()
    }
  }
  return
}

// -----

// The threads that copy each byte are not known before copies are lowered.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
!n = memref<64x64xbf16, strided<[1, 64]>>
func.func @copies(%a: !m, %b: !n) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%a, %t) : (!m, !t) -> ()
  // expected-remark-re@+1 {{cannot prove that the smem.copy at {{[0-9:]+}} is over when this overwrites the smem.alloc at {{[0-9:]+}}: it is not known whether the same threads write the same bytes}}
  "smem.copy"(%b, %t) {relayout} : (!n, !t) -> ()
  return
}

// -----

// Proven: a barrier between them; the same copy again, which gives each thread the same bytes; and disjoint
// subtiles.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!u = !smem.tile<tensor<32x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!h = memref<32x64xbf16>
func.func @proven(%a: !m, %b: !h, %zero: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %f = "smem.fill"(%zero) : (f32) -> !c
  "smem.store"(%f, %t) : (!c, !t) -> ()
  gpu.barrier
  scf.for %i = %c0 to %n step %c1 {
    "smem.copy"(%a, %t) : (!m, !t) -> ()
  }
  gpu.barrier
  %upper = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !u
  %lower = "smem.subtile"(%t) {static_offsets = array<i64: 32, 0>} : (!t) -> !u
  "smem.copy"(%b, %upper) : (!h, !u) -> ()
  "smem.copy"(%b, %lower) : (!h, !u) -> ()
  return
}

// -----

// Two loads of one pipeline index to the same bytes.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @loads(%g: !g, %h: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          // expected-error-re@+1 {{'smem.tma_load' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.tma_load at {{[0-9:]+}} is over; put smem.consumer_wait of its stage between them}}
          "smem.tma_load"(%h, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// Two stores to a tile in a partition, without and with a barrier of its warpgroup in between.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @stores_of_a_partition(%zero: f32, %one: f32) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %f = "smem.fill"(%zero) : (f32) -> !c
      %h = "smem.fill"(%one) : (f32) -> !c
      "smem.store"(%f, %t) : (!c, !t) -> ()
      "smem.warpgroup_barrier"() : () -> ()
      "smem.store"(%h, %t) : (!c, !t) -> ()
      "smem.store"(%f, %u) : (!c, !t) -> ()
      // expected-remark-re@+1 {{it may overwrite the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put smem.warpgroup_barrier between them}}
      "smem.store"(%h, %u) : (!c, !t) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
