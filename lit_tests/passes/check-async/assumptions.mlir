// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

// What llvm.intr.assume says counts: for the index of the last iteration, and in a partition.

!g = memref<64x?xbf16>
!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!pipeline = !smem.pipeline
func.func @last_index(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %positive = arith.cmpi sge, %n, %c1 : index
  llvm.intr.assume %positive : i1
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %k = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %k) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %k, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %k) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %k = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %k) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        %later = arith.cmpi ugt, %k, %c0 : index
        scf.if %later {
          %before = arith.subi %k, %c1 : index
          "smem.consumer_release"(%pipeline, %before) : (!pipeline, index) -> ()
        }
      }
      %last = arith.subi %n, %c1 : index
      "smem.consumer_release"(%pipeline, %last) : (!pipeline, index) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!g = memref<64x?xbf16>
!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!pipeline = !smem.pipeline
func.func @without(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %k = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %k) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %k, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %k) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %k = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %k) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        %later = arith.cmpi ugt, %k, %c0 : index
        scf.if %later {
          %before = arith.subi %k, %c1 : index
          "smem.consumer_release"(%pipeline, %before) : (!pipeline, index) -> ()
        }
      }
      %last = arith.subi %n, %c1 : index
      // expected-remark@+1 {{its pipeline index is not known where argument 1 is at most 0; if that is never so, assume argument 1 >= 1 (llvm.intr.assume)}}
      "smem.consumer_release"(%pipeline, %last) : (!pipeline, index) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @contradiction(%n: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %few = arith.cmpi slt, %n, %c1 : index
  %many = arith.cmpi sge, %n, %c4 : index
  llvm.intr.assume %few : i1
  // expected-error@+1 {{assumes argument 0 >= 4, which contradicts an assumption or a branch before it; expected a condition that some run meets}}
  llvm.intr.assume %many : i1
  return
}

// -----

func.func @never() {
  %false = arith.constant false
  // expected-error@+1 {{assumes 0, which never holds; expected a condition that some run meets}}
  llvm.intr.assume %false : i1
  return
}

// -----

// What holds where the partitions are does not hold before that.
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!g = memref<64x64xf32>
func.func @branch_around_partitions(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %some = arith.cmpi sge, %n, %c1 : index
  %x = "smem.load"(%g) : (!g) -> !c
  scf.if %some {
  } else {
    "smem.store"(%x, %t) : (!c, !t) -> ()
    // expected-error@+1 {{is over; put smem.warpgroup_barrier between them}}
    %y = "smem.load"(%t) : (!t) -> !c
    "smem.store"(%y, %g) : (!c, !g) -> ()
  }
  scf.if %some {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
      ^bb0:
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!g = memref<64x64xf32>
func.func @assumption_beside_partitions(%g: !g, %n: index, %other: i1) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %some = arith.cmpi sge, %n, %c1 : index
  %x = "smem.load"(%g) : (!g) -> !c
  scf.if %some {
  } else {
    "smem.store"(%x, %t) : (!c, !t) -> ()
    // expected-error@+1 {{is over; put smem.warpgroup_barrier between them}}
    %y = "smem.load"(%t) : (!t) -> !c
    "smem.store"(%y, %g) : (!c, !g) -> ()
  }
  scf.if %other {
    llvm.intr.assume %some : i1
    "smem.warp_specialize"() ({
      "smem.partition"() ({
      ^bb0:
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
  }
  return
}
