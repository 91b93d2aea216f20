// Pipelines, partitions and bulk stores in order: no remarks. One remark is expected at the end, so any other
// fails the test.

// RUN: smem-opt %s --smem-check-async --verify-diagnostics

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// A thread loads, a warpgroup multiplies.
func.func @loads(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
  return
}

// A loop in a loop, which may have no iteration: the last stage is released behind it, if it has one. The next
// index is the result of a signed trip count.
func.func @loops_in_a_loop(%g: !g, %m: index, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        %has_run = arith.cmpi slt, %c0, %n : index
        scf.if %has_run {
          %last = arith.subi %after, %c1 : index
          "smem.consumer_release"(%pipeline, %last) : (!pipeline, index) -> ()
        }
        scf.yield %after : index
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// A tile without stages, by a pipeline of one stage.
func.func @without_stages(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !t
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          "smem.tma_load"(%g, %s, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %d = "smem.mma"(%s, %s) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// One warpgroup does both.
func.func @one_warpgroup(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  scf.for %i = %c0 to %n step %c1 {
    "smem.elect"() ({
      %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
      %t = "smem.stage"(%s, %p) : (!s, index) -> !t
      "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
      "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
    }) {scope = "cta"} : () -> ()
    %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
    %t = "smem.stage"(%s, %w) : (!s, index) -> !t
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
  }
  return
}

// Threads write a stage, and all of them commit it.
func.func @written_by_threads(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !pipeline
  %zero = arith.constant 0.0 : f32
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %x = "smem.fill"(%zero) : (f32) -> !c
      scf.for %i = %c0 to %n step %c1 {
        %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %p) : (!s, index) -> !t
        "smem.store"(%x, %t) : (!c, !t) -> ()
        "smem.fence"() : () -> ()
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

// One thread commits for all threads, after their barrier.
func.func @committed_by_one(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %zero = arith.constant 0.0 : f32
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %x = "smem.fill"(%zero) : (f32) -> !c
      scf.for %i = %c0 to %n step %c1 {
        %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %p) : (!s, index) -> !t
        "smem.store"(%x, %t) : (!c, !t) -> ()
        "smem.fence"() : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
        "smem.elect"() ({
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }) {scope = "warpgroup"} : () -> ()
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

// The previous stage is released while an mma runs.
func.func @pipelined(%g: !g) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %g, %c0 : !g
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
      %w0 = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
      %t0 = "smem.stage"(%s, %w0) : (!s, index) -> !t
      %d0 = "smem.mma"(%t0, %t0) : (!t, !t) -> !d
      scf.for %i = %c1 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !d
        %k = arith.subi %i, %c1 : index
        "smem.consumer_release"(%pipeline, %k) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// Threads store to a tile, and one of them copies it to global memory.
func.func @stores(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// A fence by all threads after the barrier is enough, too.
func.func @fenced_after_the_barrier(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
        "smem.store"(%x, %o) : (!c, !t) -> ()
        "smem.warpgroup_barrier"() : () -> ()
        "smem.fence"() : () -> ()
        "smem.elect"() ({
          "smem.tma_store"(%o, %g, %c0, %c0) : (!t, !g, index, index) -> ()
          "smem.tma_commit"() : () -> ()
        }) {scope = "warpgroup"} : () -> ()
      }
      "smem.elect"() ({
        "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// A stage may also be given by its number.
func.func @by_number(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        %k = arith.remui %i, %c2 : index
        %t = "smem.stage"(%s, %k) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// Two warpgroups take buffers alternately; a thread copies what they write to global memory.
func.func @buffers(%g: !g, %n: index) attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        "smem.producer_commit"(%pipeline, %c0) : (!pipeline, index) -> ()
        "smem.producer_commit"(%pipeline, %c1) : (!pipeline, index) -> ()
        scf.for %i = %c0 to %n step %c1 {
          %two = arith.muli %i, %c2 : index
          %first = arith.addi %two, %c2 : index
          scf.for %j = %c0 to %c2 step %c1 {
            %step = arith.addi %first, %j : index
            %p = "smem.producer_acquire"(%pipeline, %step) : (!pipeline, index) -> index
            %t = "smem.stage"(%s, %p) : (!s, index) -> !t
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

// Two pipelines between the same partitions: one index of each per iteration, so a logical clock orders all waits.
func.func @two_pipelines(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %u = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %pipeline2 = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
          %p2 = "smem.producer_acquire"(%pipeline2, %i) : (!pipeline, index) -> index
          %t2 = "smem.stage"(%u, %p2) : (!s, index) -> !t
          "smem.tma_load"(%g, %t2, %pipeline2, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline2, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %w2 = "smem.consumer_wait"(%pipeline2, %i) : (!pipeline, index) -> index
        %t2 = "smem.stage"(%u, %w2) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t2) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
        "smem.consumer_release"(%pipeline2, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// The expected remark.
func.func @not_proven(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: no op waits for its stages}}
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
      %nothing = arith.constant 0 : index
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}


// Proven: one pipeline is taken at another rate than the other.

func.func @other_rate(%n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !pipeline
  %pipeline2 = "smem.create_pipeline"() {stages = 2 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %first = arith.muli %i, %c4 : index
        scf.for %j = %c0 to %c4 step %c1 {
          %step = arith.addi %first, %j : index
          %p = "smem.producer_acquire"(%pipeline, %step) : (!pipeline, index) -> index
          "smem.producer_commit"(%pipeline, %step) : (!pipeline, index) -> ()
        }
        %p = "smem.producer_acquire"(%pipeline2, %i) : (!pipeline, index) -> index
        "smem.producer_commit"(%pipeline2, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %first = arith.muli %i, %c4 : index
        scf.for %j = %c0 to %c4 step %c1 {
          %step = arith.addi %first, %j : index
          %w = "smem.consumer_wait"(%pipeline, %step) : (!pipeline, index) -> index
          "smem.consumer_release"(%pipeline, %step) : (!pipeline, index) -> ()
        }
        %w = "smem.consumer_wait"(%pipeline2, %i) : (!pipeline, index) -> index
        "smem.consumer_release"(%pipeline2, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
