// Arrivals at semaphores that not all threads of a warpgroup execute, and branches on their results that
// hold what more threads than a warpgroup must execute.

// RUN: smem-opt %s --split-input-file --smem-check-async --verify-diagnostics

!s = memref<?xi32>
func.func @some_threads(%s: !s, %i: index, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %thread = gpu.thread_id x
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %half = arith.cmpi ult, %thread, %c64 : index
  scf.if %half {
    // expected-remark-re@+1 {{cannot prove that the threads of a warpgroup execute it together: the 'scf.if' at {{[0-9:]+}} may differ between them}}
    %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
  }
  scf.for %k = %thread to %n step %c1 {
    // expected-remark-re@+1 {{cannot prove that the threads of a warpgroup execute it together: the 'scf.for' at {{[0-9:]+}} may differ between them}}
    %last = "smem.semaphore_arrive"(%s, %k, %n) : (!s, index, index) -> i1
  }
  scf.while : () -> () {
    %more = arith.cmpi ult, %thread, %n : index
    scf.condition(%more)
  } do {
    // expected-remark-re@+1 {{cannot prove that the threads of a warpgroup execute it together: the 'scf.while' at {{[0-9:]+}} may differ between them}}
    %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
    scf.yield
  }
  return
}

// -----

!s = memref<?xi32>
func.func @one_thread(%s: !s, %i: index, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        // expected-remark@+2 {{one thread executes it, but whole warpgroups must}}
        // expected-remark-re@+1 {{cannot prove that the threads of a warpgroup execute it together: the 'smem.elect' at {{[0-9:]+}} may differ between them}}
        %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = memref<?xi32>
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!g = memref<64x64xf32>
func.func @barrier_of_the_cta(%s: !s, %g: !g, %i: index, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
      scf.if %last {
        // expected-remark@+1 {{not all threads of the CTA execute it}}
        gpu.barrier
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = memref<?xi32>
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!g = memref<64x64xf32>
func.func @copy_by_the_cta(%s: !s, %g: !g, %i: index, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
      scf.if %last {
        // expected-remark@+1 {{some warpgroups may not execute it, but all threads of the CTA must}}
        "smem.copy"(%g, %t) : (!g, !t) -> ()
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = memref<?xi32>
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!g = memref<64x64xf32>
func.func @thread_of_the_cta(%s: !s, %g: !g, %i: index, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
      scf.if %last {
        // expected-remark@+1 {{which threads execute it is not known}}
        "smem.elect"() ({
          "smem.tma_commit"() : () -> ()
        }) {scope = "cta"} : () -> ()
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// What the other partition waits for may not come.
!s = memref<?xi32>
func.func @pipeline(%s: !s, %i: index, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %p = "smem.producer_acquire"(%pipeline, %c0) : (!smem.pipeline, index) -> index
        "smem.producer_commit"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
      // expected-remark@+1 {{its condition is not known to be the same for all threads}}
      scf.if %last {
        %w = "smem.consumer_wait"(%pipeline, %c0) : (!smem.pipeline, index) -> index
        "smem.consumer_release"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// The barrier between the store and the TMA store is missing in the branch.
!s = memref<?xi32>
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!g = memref<64x64xf32>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_barrier(%s: !s, %g: !g, %i: index, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %c = "smem.load"(%g) : (!g) -> !c
      %last = "smem.semaphore_arrive"(%s, %i, %n) : (!s, index, index) -> i1
      scf.if %last {
        "smem.store"(%c, %t) : (!c, !t) -> ()
        "smem.fence"() : () -> ()
        "smem.elect"() ({
          // expected-error-re@+1 {{reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put smem.warpgroup_barrier between them}}
          "smem.tma_store"(%t, %g, %c0, %c0) : (!t, !g, index, index) -> ()
          "smem.tma_commit"() : () -> ()
          "smem.tma_wait"() {pending = 0 : i32} : () -> ()
        }) {scope = "warpgroup"} : () -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      "smem.warpgroup_barrier"() : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// Two warpgroups of a partition may be the last ones of two tiles at the same time.
!s = memref<?xi32>
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!g = memref<64x64xf32>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @same_bytes(%s: !s, %g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
    ^bb0(%me: index):
      %c = "smem.load"(%g) : (!g) -> !c
      %last = "smem.semaphore_arrive"(%s, %me, %n) : (!s, index, index) -> i1
      scf.if %last {
        // expected-remark-re@+1 {{another warpgroup of its partition may access the same bytes by the smem.store at {{[0-9:]+}}}}
        "smem.store"(%c, %t) : (!c, !t) -> ()
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// Bulk stores by a CTA of two warpgroups without partitions: which of them are the last is not followed.
!s = memref<?xi32>
!t = !smem.tile<tensor<64x64xf32>, #smem.swizzle<"none", "row-major">>
!g = memref<64x64xf32>
func.func @without_partitions(%s: !s, %g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %t) : (!g, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %last = "smem.semaphore_arrive"(%s, %c0, %n) : (!s, index, index) -> i1
  // expected-remark@+1 {{its condition is not known to be the same for all threads}}
  scf.if %last {
    "smem.elect"() ({
      "smem.tma_store"(%t, %g, %c0, %c0) : (!t, !g, index, index) -> ()
      "smem.tma_commit"() : () -> ()
      "smem.tma_wait"() {pending = 0 : i32} : () -> ()
    }) {scope = "warpgroup"} : () -> ()
  }
  return
}
