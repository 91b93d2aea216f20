// Warpgroups of a partition that exchange what they write, in order.

// RUN: smem-opt %s --smem-check-async --split-input-file -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// NONE-NOT: {{remark|error}}

!t = !smem.tile<tensor<128x64xf32>, #smem.auto>
!h = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// What one has read is written again after a barrier, too.
func.func @proven(%n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
        %y = "smem.load"(%its) : (!h) -> !c
        "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// Barriers of a partition and those of the cluster are counted apart.
func.func @of_the_cluster(%n: index) attributes {known_block_size = array<i32: 384, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 128 : i32, consumers = 2 : i32} : () -> !smem.pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %s = "smem.producer_acquire"(%pipeline, %i) : (!smem.pipeline, index) -> index
        "smem.producer_commit"(%pipeline, %i) : (!smem.pipeline, index) -> ()
      }
      nvvm.cluster.arrive
      nvvm.cluster.wait
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %s = "smem.consumer_wait"(%pipeline, %i) : (!smem.pipeline, index) -> index
        "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
        "smem.consumer_release"(%pipeline, %i) : (!smem.pipeline, index) -> ()
      }
      nvvm.cluster.arrive
      nvvm.cluster.wait
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}
