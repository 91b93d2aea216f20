// Arrivals at semaphores: a barrier of the warpgroup, whose result each warpgroup has of its own.

// RUN: smem-opt %s --split-input-file --smem-check-async --verify-diagnostics

// In a CTA of one warpgroup, the arrival is a barrier between the store and the load; the branch is followed.
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!g = memref<64x64xf32>
!s = memref<?xi32>
func.func @one_warpgroup(%g: !g, %s: !s, %i: index, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%g) : (!g) -> !c
  "smem.store"(%c, %t) : (!c, !t) -> ()
  %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
  scf.if %last {
    %x = "smem.load"(%t) : (!t) -> !c
    gpu.barrier
    "smem.store"(%x, %t) : (!c, !t) -> ()
  }
  return
}

// -----

// The branch is not always taken.
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!g = memref<64x64xf32>
!s = memref<?xi32>
func.func @barrier_in_the_branch(%g: !g, %s: !s, %i: index, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%g) : (!g) -> !c
  %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
  "smem.store"(%c, %t) : (!c, !t) -> ()
  scf.if %last {
    gpu.barrier
  }
  // expected-remark-re@+1 {{cannot prove that the smem.store at {{[0-9:]+}} is over when this reads the smem.alloc at {{[0-9:]+}}}}
  %x = "smem.load"(%t) : (!t) -> !c
  return
}

// -----

// Of two warpgroups, each arrives for itself: that is no barrier of the CTA.
!t = !smem.tile<tensor<128x64xf32>, #smem.auto>
!h = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!g = memref<64x64xf32>
!s = memref<?xi32>
func.func @two_warpgroups(%g: !g, %s: !s, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c128 = arith.constant 128 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %thread = gpu.thread_id x
  %w = arith.divui %thread, %c128 : index
  %row = arith.muli %w, %c64 : index
  %t = "smem.alloc"() : () -> !t
  %h = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !h
  %c = "smem.load"(%g) : (!g) -> !c
  "smem.store"(%c, %h) : (!c, !h) -> ()
  %last = "smem.semaphore_arrive"(%s, %w, %n) : (!s, index, index) -> i1
  // expected-remark-re@+1 {{cannot prove that the smem.store at {{[0-9:]+}} is over when this reads the smem.alloc at {{[0-9:]+}}: 'smem.semaphore_arrive' at {{[0-9:]+}} may order them}}
  %x = "smem.load"(%h) : (!h) -> !c
  return
}

// -----

// Two consumers of a pipeline: each stores its part, and the last one of each tile stages the sum for TMA.
!ring = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!stage = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!out = !smem.tile<tensor<128x64xf32>, #smem.auto>
!half = !smem.tile<tensor<64x64xf32>, #smem.auto>
!a = memref<?x?xbf16, strided<[?, 1]>>
!parts = memref<?x64x64xf32>
!part = memref<64x64xf32, strided<[64, 1], offset: ?>>
!d = memref<?x?xf32, strided<[?, 1]>>
!s = memref<?xi32>
!f = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @split(%a: !a, %w: !parts, %d: !d, %s: !s, %tiles: index, %n: index) attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %ring = "smem.alloc"() : () -> !ring
  %out = "smem.alloc"() : () -> !out
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 2 : i32} : () -> !smem.pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %tiles step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!smem.pipeline, index) -> index
          %t = "smem.stage"(%ring, %p) : (!ring, index) -> !stage
          "smem.tma_load"(%a, %t, %pipeline, %i, %c0, %c0) : (!a, !stage, !smem.pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!smem.pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
    ^bb0(%me: index):
      %row = arith.muli %me, %c64 : index
      %block = gpu.block_id x
      %twice_block = arith.muli %block, %c2 : index
      %own_part = arith.addi %twice_block, %me : index
      %mine = "smem.subtile"(%out, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!out, index) -> !half
      scf.for %i = %c0 to %tiles step %c1 {
        %q = "smem.consumer_wait"(%pipeline, %i) : (!smem.pipeline, index) -> index
        %t = "smem.stage"(%ring, %q) : (!ring, index) -> !stage
        %e = "smem.mma"(%t, %t) : (!stage, !stage) -> !f
        %own = "smem.wait"(%e) {pending = 0 : i32} : (!f) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!smem.pipeline, index) -> ()
        %to = memref.subview %w[%own_part, 0, 0] [1, 64, 64] [1, 1, 1] : !parts to !part
        "smem.store"(%own, %to) : (!c, !part) -> ()
        %twice = arith.muli %i, %c2 : index
        %at = arith.addi %twice, %me : index
        %last = "smem.semaphore_arrive"(%s, %at, %n) : (!s, index, index) -> i1
        scf.if %last {
          %sum = scf.for %k = %c0 to %n step %c1 iter_args(%x = %own) -> (!c) {
            %twice_k = arith.muli %k, %c2 : index
            %part = arith.addi %twice_k, %me : index
            %from = memref.subview %w[%part, 0, 0] [1, 64, 64] [1, 1, 1] : !parts to !part
            %y = "smem.load"(%from) : (!part) -> !c
            %z = "smem.map"(%x, %y) ({
            ^bb0(%p: f32, %r: f32):
              %added = arith.addf %p, %r : f32
              gpu.yield %added : f32
            }) : (!c, !c) -> !c
            scf.yield %z : !c
          }
          "smem.elect"() ({
            "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
          }) {scope = "warpgroup"} : () -> ()
          "smem.warpgroup_barrier"() : () -> ()
          "smem.store"(%sum, %mine) : (!c, !half) -> ()
          "smem.fence"() : () -> ()
          "smem.warpgroup_barrier"() : () -> ()
          "smem.elect"() ({
            "smem.tma_store"(%mine, %d, %row, %c0) : (!half, !d, index, index) -> ()
            "smem.tma_commit"() : () -> ()
          }) {scope = "warpgroup"} : () -> ()
        }
      }
      "smem.elect"() ({
        "smem.tma_wait"() {pending = 0 : i32} : () -> ()
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}
