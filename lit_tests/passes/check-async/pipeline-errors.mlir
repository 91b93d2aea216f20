// Pipelines that are used wrongly, one error each.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

// A stage is released too early: its mma may still read it.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @released_too_early(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        %e = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !d
        // expected-error-re@+1 {{'smem.consumer_release' op releases a stage that may still be read by the smem.mma at {{[0-9:]+}}; put smem.wait with pending = 0 between them}}
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
func.func @never_released(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        // expected-error-re@+1 {{'smem.consumer_wait' op waits forever: the 2 pipeline indices before it are not released, and the smem.create_pipeline at {{[0-9:]+}} has 2 stages; put smem.consumer_release of one of them before it}}
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
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
func.func @never_committed(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          // expected-error-re@+1 {{'smem.producer_acquire' op waits forever: the 2 pipeline indices before it are not committed, and the smem.create_pipeline at {{[0-9:]+}} has 2 stages; put smem.producer_commit of one of them before it}}
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
func.func @not_waited_for(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        // expected-error@+1 {{'smem.consumer_release' op releases a pipeline index before smem.consumer_wait of that index; put the wait before it}}
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
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
func.func @released_twice(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        // expected-error@+1 {{'smem.consumer_release' op releases a pipeline index that is already released; give it the next index}}
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
func.func @waited_for_twice(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        // expected-error@+1 {{'smem.consumer_wait' op takes a pipeline index again that is already released; give it the next index}}
        %w = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %c0) : (!pipeline, index) -> ()
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
func.func @read_too_late(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        // expected-error@+1 {{'smem.mma' op reads a stage that is already released; put it before the smem.consumer_release}}
        %f = "smem.mma"(%t, %t) : (!t, !t) -> !d
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
func.func @loaded_too_late(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
          // expected-error@+1 {{'smem.tma_load' op writes a stage that is already committed; put it before the smem.producer_commit}}
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
func.func @bytes_of_another_index(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
          %k = arith.addi %i, %c1 : index
          // expected-error@+1 {{'smem.tma_load' op writes the stage of one pipeline index, but its bytes count for the index 1 after it; give it the index of the smem.producer_acquire}}
          "smem.tma_load"(%g, %t, %pipeline, %k, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
func.func @bytes_of_another_pipeline(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %pipeline2 = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          // expected-error-re@+1 {{'smem.tma_load' op writes a stage of the smem.create_pipeline at {{[0-9:]+}}, but its bytes count for the smem.create_pipeline at {{[0-9:]+}}; take both from one pipeline}}
          "smem.tma_load"(%g, %t, %pipeline2, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
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
func.func @fewer_stages(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          // expected-error-re@+1 {{'smem.tma_load' op takes one of 3 stages of the smem.create_pipeline at {{[0-9:]+}} from the smem.alloc at {{[0-9:]+}}, which has 2; give both the same number of stages}}
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
func.func @consumers(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  // expected-error@+1 {{'smem.create_pipeline' op has consumers = 2, but each stage is released by 1 warpgroup; set consumers = 1}}
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 2 : i32} : () -> !pipeline
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
func.func @producers(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  // expected-error@+1 {{'smem.create_pipeline' op has producers = 128, but each stage is committed by 1 thread; set producers = 1}}
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 128 : i32, consumers = 1 : i32} : () -> !pipeline
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

// No op acquires or commits.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_producer(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %nothing = arith.constant 0 : index
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}}, which nothing writes}}
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
func.func @no_commit(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  // expected-error@+1 {{'smem.create_pipeline' op has stages that are waited for and never committed; put smem.producer_commit}}
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %nothing = arith.constant 0 : index
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
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
func.func @one_thread_releases(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        "smem.elect"() ({
  // expected-error@+1 {{'smem.consumer_release' op is executed by one thread, but all threads of a warpgroup release a stage; put it after the smem.elect}}
          "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
        }) {scope = "warpgroup"} : () -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// An extent of a matrix that TMA copies is not 0, so the trips of a loop to it are known.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @one_more_index(%g: !g) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = memref.dim %g, %c0 : !g
  %s = "smem.alloc"() : () -> !s
  // expected-error@+1 {{'smem.create_pipeline' op has 1 more pipeline index waited for than committed; make both numbers equal}}
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
      %m = arith.addi %n, %c1 : index
      scf.for %i = %c0 to %m step %c1 {
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
func.func @the_other_pipelines_tile(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %pipeline2 = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %u = "smem.alloc"() : () -> !s
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
        %t = "smem.stage"(%u, %w) : (!s, index) -> !t
        // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}}, which is written in stages of the smem.create_pipeline at {{[0-9:]+}}; put smem.consumer_wait of that pipeline before it}}
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
func.func @unfenced(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
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
        "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        // expected-error-re@+1 {{'smem.mma' op reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put smem.fence before the smem.producer_commit at {{[0-9:]+}}}}
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
        "smem.elect"() ({
          // expected-error-re@+1 {{'smem.producer_commit' op commits a stage that may still be written by the smem.store at {{[0-9:]+}}; put smem.warpgroup_barrier between them}}
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

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @waits_for_itself(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  scf.for %i = %c0 to %n step %c1 {
    // expected-error@+1 {{'smem.consumer_wait' op waits forever: its stage is committed later, by the same threads; put smem.producer_commit before it}}
    %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
    %l = "smem.stage"(%s, %w) : (!s, index) -> !t
    %d = "smem.mma"(%l, %l) : (!t, !t) -> !d
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
    "smem.elect"() ({
      %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
      %t = "smem.stage"(%s, %p) : (!s, index) -> !t
      "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
      "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
    }) {scope = "cta"} : () -> ()
  }
  return
}

// -----

// Each warpgroup takes every other index: a wait distinguishes only two phases.

!s = !smem.tile<tensor<1x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @too_few_stages(%g: !g, %n: index) attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %s = "smem.alloc"() : () -> !s
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        "smem.producer_commit"(%pipeline, %c0) : (!pipeline, index) -> ()
        scf.for %i = %c0 to %n step %c1 {
          %two = arith.muli %i, %c2 : index
          %first = arith.addi %two, %c1 : index
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
        // expected-error-re@+1 {{'smem.consumer_wait' op may pass too early: its warpgroup skips 1 pipeline index of other warpgroups, and the smem.create_pipeline at {{[0-9:]+}} has 1 stage, so that the previous phase may not be complete; give it 2 stages or more}}
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
func.func @committed_while_it_is_read(%g: !g, %n: index) attributes {known_block_size = array<i32: 384, 1, 1>} {
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
            // expected-error-re@+1 {{'smem.producer_commit' op commits a stage that may still be read by the smem.tma_store at {{[0-9:]+}}; put smem.tma_wait with pending = 0 in smem.elect between them}}
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
func.func @unfenced_buffers(%g: !g, %n: index) attributes {known_block_size = array<i32: 384, 1, 1>} {
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
            // expected-error-re@+1 {{'smem.tma_store' op reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put smem.fence before the smem.consumer_release at {{[0-9:]+}}}}
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
        "smem.consumer_release"(%pipeline, %step) : (!pipeline, index) -> ()
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// A tile without stages is that of a pipeline with one.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @read_too_late_without_stages(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
          "smem.tma_load"(%g, %t, %pipeline, %i, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
        // expected-error@+1 {{'smem.mma' op reads a stage that is not waited for; put smem.consumer_wait before it}}
        %f = "smem.mma"(%t, %t) : (!t, !t) -> !d
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
