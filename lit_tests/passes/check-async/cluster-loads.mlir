// Loads from tiles of other CTAs of the cluster, and the barriers that order them.

// RUN: smem-opt %s --split-input-file --smem-check-async --verify-diagnostics

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @proven(%m: !m, %r: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%m) : (!m) -> !c
  "smem.store"(%c, %t) : (!c, !t) -> ()
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  %d = "smem.load"(%t, %r) : (!t, index) -> !c
  "smem.store"(%d, %m) : (!c, !m) -> ()
  return
}

// -----

// A barrier of the CTA is not enough.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @of_the_cta(%m: !m, %r: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%m) : (!m) -> !c
  "smem.store"(%c, %t) : (!c, !t) -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.load' op reads the smem.alloc at {{[0-9:]+}} of another CTA, which may not have written it; put a barrier of the cluster (nvvm.cluster.arrive and nvvm.cluster.wait) before the load}}
  %d = "smem.load"(%t, %r) : (!t, index) -> !c
  "smem.store"(%d, %m) : (!c, !m) -> ()
  return
}

// -----

// An arrival without release semantics, and an arrival that waits later, are not followed.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @relaxed(%m: !m, %r: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%m) : (!m) -> !c
  "smem.store"(%c, %t) : (!c, !t) -> ()
  nvvm.cluster.arrive.relaxed {aligned}
  nvvm.cluster.wait {aligned}
  // expected-remark@+2 {{cannot prove that the cluster has the CTA whose tile this reads: it has a rank that is not known; expected rank 0 to 1}}
  // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: there may be a path on which it reads the smem.alloc at {{[0-9:]+}} of another CTA, which may not have written it; put a barrier of the cluster}}
  %d = "smem.load"(%t, %r) : (!t, index) -> !c
  "smem.store"(%d, %m) : (!c, !m) -> ()
  return
}

// -----

// A barrier that some threads may not execute.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @in_a_branch(%m: !m, %r: index, %x: i1) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%m) : (!m) -> !c
  "smem.store"(%c, %t) : (!c, !t) -> ()
  scf.if %x {
    nvvm.cluster.arrive {aligned}
    // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it is in a branch, a loop or an election, which other threads may not execute}}
    nvvm.cluster.wait {aligned}
  }
  // expected-remark@+2 {{cannot prove that the cluster has the CTA whose tile this reads: it has a rank that is not known; expected rank 0 to 1}}
  // expected-remark@+1 {{there may be a path on which it reads the smem.alloc}}
  %d = "smem.load"(%t, %r) : (!t, index) -> !c
  "smem.store"(%d, %m) : (!c, !m) -> ()
  return
}

// -----

// CTAs whose branches may differ: one of them may not have written its tile.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @one_writes(%m: !m, %r: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%m) : (!m) -> !c
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %id = gpu.block_id x
  %mine = arith.remui %id, %c2 : index
  %first = arith.cmpi eq, %mine, %c0 : index
  scf.if %first {
    "smem.store"(%c, %t) : (!c, !t) -> ()
  } else {
    "smem.store"(%c, %t) : (!c, !t) -> ()
  }
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  // expected-remark@+2 {{cannot prove that the cluster has the CTA whose tile this reads: it has a rank that is not known; expected rank 0 to 1}}
  // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: it is not known whether every CTA has written what it reads of the smem.alloc at {{[0-9:]+}} of another CTA before the last barrier of the cluster}}
  %d = "smem.load"(%t, %r) : (!t, index) -> !c
  "smem.store"(%d, %m) : (!c, !m) -> ()
  return
}

// -----

// The tile is written again, while other CTAs may read it.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @again(%m: !m, %r: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%m) : (!m) -> !c
  "smem.store"(%c, %t) : (!c, !t) -> ()
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  // expected-remark@+2 {{cannot prove that the cluster has the CTA whose tile this reads: it has a rank that is not known; expected rank 0 to 1}}
  // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: the smem.store at {{[0-9:]+}} of another CTA may not be over; put a barrier of the cluster (nvvm.cluster.arrive and nvvm.cluster.wait) between them}}
  %d = "smem.load"(%t, %r) : (!t, index) -> !c
  "smem.store"(%d, %m) : (!c, !m) -> ()
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

// In order with a second barrier.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @again_in_order(%m: !m, %r: index) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %c = "smem.load"(%m) : (!m) -> !c
  "smem.store"(%c, %t) : (!c, !t) -> ()
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  %d = "smem.load"(%t, %r) : (!t, index) -> !c
  "smem.store"(%d, %m) : (!c, !m) -> ()
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  "smem.store"(%c, %t) : (!c, !t) -> ()
  return
}

// -----

// A stage of a pipeline: which index another CTA is at is not known.

!s = !smem.tile<tensor<2x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!g = memref<?x?xf32, strided<[?, 1]>>
!m = memref<64x64xf32>
func.func @stage(%g: !g, %m: !m, %r: index) attributes {known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %p = "smem.producer_acquire"(%pipeline, %c0) : (!smem.pipeline, index) -> index
        %t = "smem.stage"(%s, %p) : (!s, index) -> !t
        "smem.tma_load"(%g, %t, %pipeline, %c0, %c0, %c0) : (!g, !t, !smem.pipeline, index, index, index) -> ()
        "smem.producer_commit"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
      }) {scope = "warpgroup"} : () -> ()
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %w = "smem.consumer_wait"(%pipeline, %c0) : (!smem.pipeline, index) -> index
      %t = "smem.stage"(%s, %w) : (!s, index) -> !t
      nvvm.cluster.arrive {aligned}
      nvvm.cluster.wait {aligned}
      // expected-remark@+2 {{cannot prove that the cluster has the CTA whose tile this reads: it has a rank that is not known; expected rank 0 to 1}}
      // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: it reads a stage of the smem.alloc at {{[0-9:]+}} of another CTA, whose pipeline indices are not known}}
      %d = "smem.load"(%t, %r) : (!t, index) -> !c
      "smem.consumer_release"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
      "smem.store"(%d, %m) : (!c, !m) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// One CTA of a cluster may not come to its barriers.
func.func @branch_around_barriers(%n: index) attributes {known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %c1 = arith.constant 1 : index
  %block = gpu.block_id x
  %later = arith.cmpi uge, %block, %c1 : index
  // expected-remark@+1 {{its condition is not known to be the same for all CTAs of the cluster}}
  scf.if %later {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
      ^bb0:
        nvvm.cluster.arrive {aligned}
        nvvm.cluster.wait {aligned}
      }) {warpgroups = 1 : i32} : () -> ()
      "smem.partition"() ({
      ^bb0:
        nvvm.cluster.arrive {aligned}
        nvvm.cluster.wait {aligned}
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
  }
  return
}
