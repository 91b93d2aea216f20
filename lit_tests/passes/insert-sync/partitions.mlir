// Kernels with partitions: pipelines stay as they are, and each partition gets what its own ops need.

// RUN: smem-opt %s --smem-insert-sync --split-input-file | FileCheck %s

!stages = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline

// A stage is released one iteration later, so one mma can be in flight. The tile is stored by a thread: the stores
// of all threads are fenced, and the next ones come after the bulk store has read the tile.
// CHECK-LABEL: gpu.func @product
gpu.module @kernels {
  gpu.func @product(%g: !g, %out: !g) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %tiles = memref.dim %g, %c0 : !g
    %steps = memref.dim %g, %c1 : !g
    %s = "smem.alloc"() : () -> !stages
    %o = "smem.alloc"() : () -> !t
    %loads = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        // CHECK: "smem.elect"
        // CHECK-NOT: {{smem.fence|smem.wait|barrier|tma_wait}}
        // CHECK: }) {scope = "warpgroup"}
        "smem.elect"() ({
          scf.for %k = %c0 to %steps step %c1 {
            %p = "smem.producer_acquire"(%loads, %k) : (!pipeline, index) -> index
            %t = "smem.stage"(%s, %p) : (!stages, index) -> !t
            "smem.tma_load"(%g, %t, %loads, %k, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
            "smem.producer_commit"(%loads, %k) : (!pipeline, index) -> ()
          }
        }) {scope = "warpgroup"} : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()
      "smem.partition"() ({
        %first = "smem.consumer_wait"(%loads, %c0) : (!pipeline, index) -> index
        %t0 = "smem.stage"(%s, %first) : (!stages, index) -> !t
        %d0 = "smem.mma"(%t0, %t0) : (!t, !t) -> !c
        // CHECK: %[[SUM:.*]] = scf.for
        // CHECK: %[[D:.*]] = "smem.mma"
        // CHECK-NEXT: arith.subi
        // CHECK-NEXT: %[[ON:.*]] = "smem.wait"(%[[D]]) {pending = 1 : i32} : {{.*}} -> {{.*}} #smem.in_flight>
        // CHECK-NEXT: "smem.consumer_release"
        // CHECK-NEXT: scf.yield %[[ON]]
        %sum = scf.for %k = %c1 to %steps step %c1 iter_args(%x = %d0) -> (!c) {
          %w = "smem.consumer_wait"(%loads, %k) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %w) : (!stages, index) -> !t
          %d = "smem.mma"(%t, %t, %x) : (!t, !t, !c) -> !c
          %before = arith.subi %k, %c1 : index
          "smem.consumer_release"(%loads, %before) : (!pipeline, index) -> ()
          scf.yield %d : !c
        }
        // CHECK: %[[DONE:.*]] = "smem.wait"(%[[SUM]]) {pending = 0 : i32} : {{.*}} -> {{.*}} #smem.accumulator>
        // CHECK-NEXT: "smem.consumer_release"
        %last = arith.subi %steps, %c1 : index
        "smem.consumer_release"(%loads, %last) : (!pipeline, index) -> ()
        // CHECK-NEXT: scf.for
        scf.for %i = %c0 to %tiles step %c1 {
          // CHECK-NEXT: "smem.elect"() ({
          // CHECK-NEXT: "smem.tma_wait"() {pending = 0 : i32, read}
          // CHECK-NEXT: })
          // CHECK-NEXT: "smem.warpgroup_barrier"
          // CHECK-NEXT: "smem.store"(%[[DONE]],
          // CHECK-NEXT: "smem.fence"
          // CHECK-NEXT: "smem.warpgroup_barrier"
          // CHECK-NEXT: "smem.elect"
          // CHECK-NEXT: "smem.tma_store"
          // CHECK-NEXT: "smem.tma_commit"
          "smem.store"(%sum, %o) : (!c, !t) -> ()
          "smem.elect"() ({
            "smem.tma_store"(%o, %out, %i, %c0) : (!t, !g, index, index) -> ()
          }) {scope = "warpgroup"} : () -> ()
        }
        // CHECK: }
        // CHECK: "smem.elect"() ({
        // CHECK-NEXT: "smem.tma_wait"() {pending = 0 : i32, read}
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
!g = memref<?x?xbf16, strided<[?, 1]>>

// All warpgroups of a kernel without partitions wait for each other.
// CHECK-LABEL: func.func @two_warpgroups
// CHECK: "smem.copy"
// CHECK-NEXT: "smem.fence"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.elect"
// CHECK-NEXT: "smem.tma_store"
// CHECK-NEXT: "smem.tma_commit"
// CHECK-NEXT: "smem.tma_wait"() {pending = 0 : i32, read}
// CHECK-NEXT: }) {scope = "cta"}
func.func @two_warpgroups(%m: !m, %g: !g) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.elect"() ({
    "smem.tma_store"(%t, %g, %c0, %c0) : (!t, !g, index, index) -> ()
  }) {scope = "cta"} : () -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x64xf32>, #smem.auto>
!h = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// The warpgroups of a partition that exchange rows wait for each other, and one barrier in a loop is for rows that are
// written again.
// CHECK-LABEL: func.func @exchange
// CHECK: scf.for
// CHECK: "smem.warpgroup_barrier"() {warpgroups = 2 : i32}
// CHECK-NEXT: "smem.store"
// CHECK-NEXT: "smem.warpgroup_barrier"() {warpgroups = 2 : i32}
// CHECK-NEXT: "smem.load"
// CHECK-NEXT: }
func.func @exchange(%n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
    ^bb0(%w: index):
      %x = "smem.fill"(%zero) : (f32) -> !c
      %row = arith.muli %w, %c64 : index
      %other = arith.subi %c64, %row : index
      %mine = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !h
      %its = "smem.subtile"(%t, %other) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !h
      scf.for %i = %c0 to %n step %c1 {
        "smem.store"(%x, %mine) : (!c, !h) -> ()
        %y = "smem.load"(%its) : (!h) -> !c
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>

// What all threads have written before the partitions is fenced before them; then the partition's own tile is.
// CHECK-LABEL: func.func @before_partitions
// CHECK: "smem.copy"
// CHECK-NEXT: "smem.fence"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.warp_specialize"
// CHECK: "smem.store"
// CHECK-NEXT: "smem.fence"
// CHECK-NEXT: "smem.warpgroup_barrier"
// CHECK-NEXT: "smem.mma"
func.func @before_partitions(%m: !m) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %zero = arith.constant 0.0 : f32
  %a = "smem.alloc"() : () -> !t
  %b = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %a) : (!m, !t) -> ()
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %unused = arith.constant 0 : index
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %x = "smem.fill"(%zero) : (f32) -> !c
      "smem.store"(%x, %b) : (!c, !t) -> ()
      %d = "smem.mma"(%a, %b) : (!t, !t) -> !c
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline

// Without partitions, all threads of the CTA share a tile that they copy to: the barrier is one of all.
// CHECK-LABEL: func.func @by_all
// CHECK: "smem.copy"
// CHECK: "smem.fence"
// CHECK: "smem.consumer_release"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: "smem.elect"
// CHECK-NEXT: "smem.tma_store"
func.func @by_all(%g: !g, %out: !g) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %s = "smem.alloc"() : () -> !s
  %o = "smem.alloc"() : () -> !t
  %loads = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 2 : i32} : () -> !pipeline
  "smem.elect"() ({
    %p = "smem.producer_acquire"(%loads, %c0) : (!pipeline, index) -> index
    %t = "smem.stage"(%s, %p) : (!s, index) -> !t
    "smem.tma_load"(%g, %t, %loads, %c0, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
    "smem.producer_commit"(%loads, %c0) : (!pipeline, index) -> ()
  }) {scope = "cta"} : () -> ()
  %w = "smem.consumer_wait"(%loads, %c0) : (!pipeline, index) -> index
  %t = "smem.stage"(%s, %w) : (!s, index) -> !t
  "smem.copy"(%t, %o) {relayout} : (!t, !t) -> ()
  "smem.consumer_release"(%loads, %c0) : (!pipeline, index) -> ()
  "smem.elect"() ({
    "smem.tma_store"(%o, %out, %c0, %c0) : (!t, !g, index, index) -> ()
  }) {scope = "cta"} : () -> ()
  return
}
