// Programs of which smem-insert-sync cannot decide what puts their accesses in order.

// RUN: smem-opt %s --smem-insert-sync --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xbf16>, #smem.accumulator>
!m = memref<64x64xbf16>
func.func @copy_to_itself(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  %s = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !smem.tile<tensor<32x64xbf16>, #smem.auto>
  %u = "smem.subtile"(%t) {static_offsets = array<i64: 16, 0>} : (!t) -> !smem.tile<tensor<32x64xbf16>, #smem.auto>
  // expected-error-re@+1 {{'smem.copy' op cannot insert synchronization: cannot prove that the smem.copy at {{[0-9:]+}} is over when this overwrites the smem.alloc at {{[0-9:]+}}: there may be a path without gpu.barrier between them}}
  "smem.copy"(%s, %u) : (!smem.tile<tensor<32x64xbf16>, #smem.auto>, !smem.tile<tensor<32x64xbf16>, #smem.auto>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
func.func @threads_differ(%m: !m) {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  %thread = gpu.thread_id x
  %first = arith.cmpi eq, %thread, %c0 : index
  // expected-error@+1 {{'scf.if' op cannot insert synchronization: its condition is not known to be the same for all threads}}
  scf.if %first {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
// expected-error@+1 {{'func.func' op cannot insert synchronization: the function has several blocks}}
func.func @blocks(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  cf.br ^next
^next:
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!m = memref<64x64xbf16>
func.func @parallel_loop(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  // expected-error@+1 {{'scf.parallel' op cannot insert synchronization: how it executes its regions is not known}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @never_written(%o: memref<64x64xf32>) {
  %t = "smem.alloc"() : () -> !t
  // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}}, which nothing writes}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  "smem.store"(%d, %o) : (!d, memref<64x64xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @reads_asynchronously(%m: !m, %x: !f) {
  %t = "smem.alloc"() : () -> !t
  "smem.store"(%x, %m) : (!f, !m) -> ()
  // expected-error@+1 {{'smem.copy_async' op cannot insert synchronization: it reads an array asynchronously that another op writes}}
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @arrays_in_partitions(%m: !m, %zero: f32) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %x = "smem.fill"(%zero) : (f32) -> !f
      "smem.store"(%x, %t) : (!f, !t) -> ()
      %y = "smem.load"(%t) : (!t) -> !f
      "smem.store"(%y, %m) : (!f, !m) -> ()
      %c0 = arith.constant 0 : index
      // expected-error-re@+1 {{'vector.load' op cannot insert synchronization: it reads an array that the smem.store at {{[0-9:]+}} writes; in kernels with pipelines or partitions put smem.semaphore_arrive or a barrier between them, and let each warpgroup read rows that it writes itself}}
      %z = vector.load %m[%c0, %c0] : !m, vector<4xf32>
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// Pipelines are kept as they are.
func.func @skips_an_index(%g: !g, %n: index, %o: memref<64x64xf32>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %p = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %a = "smem.producer_acquire"(%p, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %a) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %p, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%p, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      // expected-error@+1 {{'smem.consumer_wait' op cannot insert synchronization: it skips 1 pipeline index}}
      %w = "smem.consumer_wait"(%p, %c1) : (!pipeline, index) -> index
      %t = "smem.stage"(%s, %w) : (!s, index) -> !t
      %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
      "smem.consumer_release"(%p, %c1) : (!pipeline, index) -> ()
      "smem.store"(%d, %o) : (!d, memref<64x64xf32>) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// An arrival is no barrier of several warpgroups, and no barrier can come into the branch.
!f = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<128x64xf32>
!w = memref<64x64xf32, strided<[64, 1]>>
!v = memref<64x64xf32, strided<[64, 1], offset: 4096>>
func.func @semaphores_of_two_warpgroups(%m: !m, %s: memref<?xi32>, %i: index, %n: index, %x: !f, %d: memref<64x64xf32>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %w = memref.subview %m[0, 0] [64, 64] [1, 1] : !m to !w
  %v = memref.subview %m[64, 0] [64, 64] [1, 1] : !m to !v
  "smem.store"(%x, %v) : (!f, !v) -> ()
  %last = "smem.semaphore_arrive"(%s, %i, %n) : (memref<?xi32>, index, index) -> i1
  // expected-error@+1 {{'scf.if' op cannot insert synchronization: its condition is not known to be the same for all threads}}
  scf.if %last {
    %y = "smem.load"(%w) : (!w) -> !f
    "smem.store"(%y, %d) : (!f, memref<64x64xf32>) -> ()
  }
  return
}
