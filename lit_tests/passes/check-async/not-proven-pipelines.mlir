// Remarks state what is not proven of pipelines and partitions.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

// A consumer that skips an index, whose load may complete later.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @skips(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %k = arith.addi %i, %c1 : index
        // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it skips 1 pipeline index}}
        %w = "smem.consumer_wait"(%pipeline, %k) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %k) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @unknown_index(%g: !g, %n: index, %x: memref<?xindex>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %h = memref.load %x[%i] : memref<?xindex>
        // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it is not known whether its pipeline index is the next one}}
        %w = "smem.consumer_wait"(%pipeline, %h) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %h) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// All indices are released one too early, which may be right.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @shifted_indices(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
        %k = arith.addi %i, %c1 : index
        // expected-remark@+1 {{cannot prove that accesses of tiles are in order: there may be a path on which it releases a pipeline index before smem.consumer_wait of that index; put the wait before it}}
        "smem.consumer_release"(%pipeline, %k) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @other_stage(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %c0) : (!s, index) -> !t
        // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: it is not known whether what it reads of the smem.alloc at {{[0-9:]+}} was written before}}
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @more_stages(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: the smem.alloc at {{[0-9:]+}} has 2 stages, the smem.create_pipeline at {{[0-9:]+}} 1; give both the same number of stages}}
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: the smem.alloc at {{[0-9:]+}} has 2 stages, the smem.create_pipeline at {{[0-9:]+}} 1; give both the same number of stages}}
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// The loop bound differs between threads.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @divergent(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %h = gpu.thread_id x
      // expected-remark@+1 {{cannot prove that accesses of tiles are in order: its bounds are not known to be the same for all threads}}
      scf.for %i = %c0 to %h step %c1 {
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

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @after_the_partitions(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it comes after the smem.warp_specialize}}
  gpu.barrier
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @each_thread_loads(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it is executed by 128 threads, each of which loads the tile}}
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
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

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!u = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!p = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_barrier_before(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %o = "smem.alloc"() : () -> !u
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %zero = arith.constant 0.0 : f32
  %x = "smem.fill"(%zero) : (f32) -> !c
  %thread = gpu.thread_id x
  %warpgroup = arith.divui %thread, %c128 : index
  %row = arith.muli %warpgroup, %c64 : index
  %part = "smem.subtile"(%o, %row) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 64>} : (!u, index) -> !p
  "smem.store"(%x, %part) : (!c, !p) -> ()
  // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: no barrier comes after the smem.store at {{[0-9:]+}}; put smem.fence and gpu.barrier between them}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @outside_of_the_partitions(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %w0 = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: pipelines are used outside of it}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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

// Two partitions, each of which waits for the other before it commits.

!pipeline = !smem.pipeline
func.func @circular_wait(%n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !pipeline
  // expected-remark-re@+1 {{partitions may deadlock: the smem.partition at {{[0-9:]+}} waits at the smem.consumer_wait at {{[0-9:]+}} for index 0 of the smem.create_pipeline at {{[0-9:]+}}, which the smem.partition at {{[0-9:]+}} commits later; the smem.partition at {{[0-9:]+}} waits at the smem.consumer_wait at {{[0-9:]+}} for index 0 of the smem.create_pipeline at {{[0-9:]+}}, which the smem.partition at {{[0-9:]+}} commits later}}
  %pipeline2 = "smem.create_pipeline"() {stages = 2 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline2, %i) : (!pipeline, index) -> index
        "smem.consumer_release"(%pipeline2, %i) : (!pipeline, index) -> ()
        %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
        "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
        %p = "smem.producer_acquire"(%pipeline2, %i) : (!pipeline, index) -> index
        "smem.producer_commit"(%pipeline2, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// Two partitions write the same tile without a pipeline.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @without_a_pipeline(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %o = "smem.alloc"() : () -> !t
  %zero = arith.constant 0.0 : f32
  %x = "smem.fill"(%zero) : (f32) -> !c
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
      // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: nothing orders it and the smem.store at {{[0-9:]+}} of other threads}}
      "smem.store"(%x, %o) : (!c, !t) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
      }
      // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: nothing orders it and the smem.store at {{[0-9:]+}} of other threads}}
      "smem.store"(%x, %o) : (!c, !t) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @first_indices(%g: !g, %n: index) attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %two = arith.muli %i, %c2 : index
          %first = arith.addi %two, %c0 : index
          scf.for %j = %c0 to %c2 step %c1 {
            %step = arith.addi %first, %j : index
            %p = "smem.producer_acquire"(%pipeline, %step) : (!pipeline, index) -> index
            %t = "smem.stage"(%s, %p) : (!s, index) -> !t
            // expected-remark@+1 {{cannot prove that accesses of tiles are in order: its pipeline index may be one of the first 2, whose stages no consumer has written before}}
            "smem.tma_store"(%t, %g, %c0, %c0) : (!t, !g, index, index) -> ()
            "smem.tma_commit"() : () -> ()
            "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
            "smem.producer_commit"(%pipeline, %step) : (!pipeline, index) -> ()
          }
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
    ^bb0(%which: index):
      %x = "smem.fill"(%zero) : (f32) -> !c
      scf.for %i = %c0 to %n step %c1 {
        %two = arith.muli %i, %c2 : index
        %step = arith.addi %two, %which : index
        %w = "smem.consumer_wait"(%pipeline, %step) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        "smem.store"(%x, %t) : (!c, !t) -> ()
        "smem.fence"() : () -> ()
        "smem.consumer_release"(%pipeline, %step) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @same_bytes(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %o = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %x = "smem.fill"(%zero) : (f32) -> !c
      scf.for %i = %c0 to %n step %c1 {
        "smem.elect"() ({
          "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
        }) {scope = "warpgroup"} : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
        // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: another warpgroup of its partition may access the same bytes by the smem.store at {{[0-9:]+}}}}
        "smem.store"(%x, %o) : (!c, !t) -> ()
        "smem.fence"() : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
        "smem.elect"() ({
          "smem.tma_store"(%o, %g, %c0, %c0) : (!t, !g, index, index) -> ()
          "smem.tma_commit"() : () -> ()
        }) {scope = "warpgroup"} : () -> ()
      }
      "smem.elect"() ({
        "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @in_a_loop(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  scf.for %l = %c0 to %n step %c1 {
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it is not at the top level of the kernel, once}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
  }
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @not_followed(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: 'smem.copy_commit' is not followed in kernels with pipelines or partitions}}
  "smem.copy_commit"() : () -> ()
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @some_threads(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
        // expected-remark@+1 {{cannot prove that accesses of tiles are in order: not all threads of the CTA execute it}}
        gpu.barrier
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// Elected threads of several warps, next to ops of all threads.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @elected_warps(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
        "smem.elect"() ({
          %nothing = arith.constant 0 : index
        }) {scope = "warpgroup", warp = 1 : i32} : () -> ()
        // expected-remark@+1 {{cannot prove that accesses of tiles are in order: elected threads of several warps run concurrently with other threads}}
        "smem.elect"() ({
          %nothing = arith.constant 0 : index
        }) {scope = "warpgroup"} : () -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!pipeline = !smem.pipeline
// Indices that are two rounds apart have the same stage and phase: such a wait may pass.
func.func @again() attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      scf.for %i = %c0 to %c2 step %c1 {
        %s = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
        "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %0 = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
      "smem.consumer_release"(%pipeline, %c0) : (!pipeline, index) -> ()
      %1 = "smem.consumer_wait"(%pipeline, %c1) : (!pipeline, index) -> index
      "smem.consumer_release"(%pipeline, %c1) : (!pipeline, index) -> ()
      // expected-remark@+1 {{there may be a path on which it takes a pipeline index again that is already released; give it the next index}}
      %2 = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
// A loop in a loop, which may have no iteration: then the last stage was released before.
func.func @released_without_iterations(%g: !g, %m: index, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %all = scf.for %j = %c0 to %m step %c1 iter_args(%before = %c0) -> (index) {
          %after = scf.for %i = %c0 to %n step %c1 iter_args(%count = %before) -> (index) {
            %p = "smem.producer_acquire"(%pipeline, %count) : (!pipeline, index) -> index
            %t = "smem.stage"(%s, %p) : (!s, index) -> !t
            "smem.tma_load"(%g, %t, %pipeline, %count, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
            "smem.producer_commit"(%pipeline, %count) : (!pipeline, index) -> ()
            %next = arith.addi %count, %c1 : index
            scf.yield %next : index
          }
          scf.yield %after : index
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %all = scf.for %j = %c0 to %m step %c1 iter_args(%before = %c0) -> (index) {
        %after = scf.for %i = %c0 to %n step %c1 iter_args(%count = %before) -> (index) {
          %w = "smem.consumer_wait"(%pipeline, %count) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %w) : (!s, index) -> !t
          %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
          %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
          %is_later = arith.cmpi sgt, %i, %c0 : index
          scf.if %is_later {
            %earlier = arith.subi %count, %c1 : index
            "smem.consumer_release"(%pipeline, %earlier) : (!pipeline, index) -> ()
          }
          %next = arith.addi %count, %c1 : index
          scf.yield %next : index
        }
        %last = arith.subi %after, %c1 : index
        // expected-remark@+1 {{there may be a path on which it releases a pipeline index that is already released; give it the next index}}
        "smem.consumer_release"(%pipeline, %last) : (!pipeline, index) -> ()
        scf.yield %after : index
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
