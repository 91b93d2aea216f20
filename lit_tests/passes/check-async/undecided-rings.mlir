// What is not decided of rings and roles is said in remarks.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

// A consumer that waits for steps before the loads of which others may come.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.barriers
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @skips(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %r = "smem.ring"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.roles"() ({
    "smem.role"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%r, %i) : (!r, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %r, %i, %c0, %c0) : (!g, !t, !r, index, index, index) -> ()
          "smem.producer_commit"(%r, %i) : (!r, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.role"() ({
      scf.for %i = %c0 to %n step %c1 {
        %k = arith.addi %i, %c1 : index
        // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it leaves out 1 step}}
        %w = "smem.consumer_wait"(%r, %k) : (!r, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%r, %k) : (!r, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.barriers
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @unknown_step(%g: !g, %n: index, %x: memref<?xindex>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %r = "smem.ring"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.roles"() ({
    "smem.role"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%r, %i) : (!r, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %r, %i, %c0, %c0) : (!g, !t, !r, index, index, index) -> ()
          "smem.producer_commit"(%r, %i) : (!r, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.role"() ({
      scf.for %i = %c0 to %n step %c1 {
        %h = memref.load %x[%i] : memref<?xindex>
        // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it is not known whether its step is the one after the last}}
        %w = "smem.consumer_wait"(%r, %h) : (!r, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%r, %h) : (!r, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.barriers
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @other_stage(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %r = "smem.ring"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.roles"() ({
    "smem.role"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%r, %i) : (!r, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %r, %i, %c0, %c0) : (!g, !t, !r, index, index, index) -> ()
          "smem.producer_commit"(%r, %i) : (!r, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.role"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%r, %i) : (!r, index) -> index
        %k = arith.remui %i, %c2 : index
        %t = "smem.stage"(%s, %k) : (!s, index) -> !t
        // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: it is not known whether what it reads of the smem.alloc at {{[0-9:]+}} was written before}}
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%r, %i) : (!r, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.barriers
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @more_stages(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %r = "smem.ring"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.roles"() ({
    "smem.role"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%r, %i) : (!r, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: the smem.alloc at {{[0-9:]+}} has 2 stages, the smem.ring at {{[0-9:]+}} 1; give both as many}}
          "smem.tma_load"(%g, %t, %r, %i, %c0, %c0) : (!g, !t, !r, index, index, index) -> ()
          "smem.producer_commit"(%r, %i) : (!r, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.role"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%r, %i) : (!r, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: the smem.alloc at {{[0-9:]+}} has 2 stages, the smem.ring at {{[0-9:]+}} 1; give both as many}}
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%r, %i) : (!r, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// Every other warpgroup goes another way.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.barriers
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @divergent(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %r = "smem.ring"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.roles"() ({
    "smem.role"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%r, %i) : (!r, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %r, %i, %c0, %c0) : (!g, !t, !r, index, index, index) -> ()
          "smem.producer_commit"(%r, %i) : (!r, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.role"() ({
      %h = gpu.thread_id x
      // expected-remark@+1 {{cannot prove that accesses of tiles are in order: its bounds are not known to be the same for all threads}}
      scf.for %i = %c0 to %h step %c1 {
        %w = "smem.consumer_wait"(%r, %i) : (!r, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%r, %i) : (!r, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!r = !smem.barriers
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @after_the_roles(%g: !g, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  %r = "smem.ring"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !r
  "smem.roles"() ({
    "smem.role"() ({
      "smem.elect"() ({
        scf.for %i = %c0 to %n step %c1 {
          %p = "smem.producer_acquire"(%r, %i) : (!r, index) -> index
          %t = "smem.stage"(%s, %p) : (!s, index) -> !t
          "smem.tma_load"(%g, %t, %r, %i, %c0, %c0) : (!g, !t, !r, index, index, index) -> ()
          "smem.producer_commit"(%r, %i) : (!r, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.role"() ({
      scf.for %i = %c0 to %n step %c1 {
        %w = "smem.consumer_wait"(%r, %i) : (!r, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
        %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
        "smem.consumer_release"(%r, %i) : (!r, index) -> ()
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: it comes after the smem.roles}}
  gpu.barrier
  return
}
