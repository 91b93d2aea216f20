// Bulk stores of tiles that are not complete, or begin too early, one error each.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_fence(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
        "smem.elect"() ({
          // expected-error-re@+1 {{'smem.tma_store' op reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put smem.fence between them}}
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

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_barrier(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
        "smem.elect"() ({
          // expected-error-re@+1 {{'smem.tma_store' op reads the smem.alloc at {{[0-9:]+}} before the smem.store at {{[0-9:]+}} is over; put smem.warpgroup_barrier between them}}
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

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_wait(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %o = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %x = "smem.fill"(%zero) : (f32) -> !c
      scf.for %i = %c0 to %n step %c1 {
        "smem.warpgroup_barrier"() : () -> ()
        // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.tma_store at {{[0-9:]+}} is over; put smem.tma_wait with pending = 0 in smem.elect and smem.warpgroup_barrier between them}}
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

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_commit_of_stores(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
        // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.tma_store at {{[0-9:]+}} is over; put smem.tma_commit, smem.tma_wait with pending = 0 in smem.elect and smem.warpgroup_barrier between them}}
        "smem.store"(%x, %o) : (!c, !t) -> ()
        "smem.fence"() : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
        "smem.elect"() ({
          "smem.tma_store"(%o, %g, %c0, %c0) : (!t, !g, index, index) -> ()
        }) {scope = "warpgroup"} : () -> ()
      }
      "smem.elect"() ({
        "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
      }) {scope = "warpgroup"} : () -> ()
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
func.func @no_barrier_after_the_wait(%g: !g, %n: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
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
        // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.tma_store at {{[0-9:]+}} is over; put smem.warpgroup_barrier between them}}
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

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @not_waited_for_at_the_end(%g: !g) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %o = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %x = "smem.fill"(%zero) : (f32) -> !c
      "smem.store"(%x, %o) : (!c, !t) -> ()
      "smem.fence"() : () -> ()
      "smem.warpgroup_barrier"() : () -> ()
      "smem.elect"() ({
        // expected-error@+1 {{'smem.tma_store' op may still read its tile when the kernel ends; put smem.tma_wait with pending = 0 before the end}}
        "smem.tma_store"(%o, %g, %c0, %c0) : (!t, !g, index, index) -> ()
        "smem.tma_commit"() : () -> ()
      }) {scope = "warpgroup"} : () -> ()
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
func.func @copied_by_a_partition(%m: memref<64x64xbf16>) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %o = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      // expected-error@+1 {{'smem.copy' op is executed by 1 of the CTA's warpgroups, but all threads of the CTA share a copy; put it before the smem.warp_specialize}}
      "smem.copy"(%m, %o) : (memref<64x64xbf16>, !t) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %nothing = arith.constant 0 : index
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
