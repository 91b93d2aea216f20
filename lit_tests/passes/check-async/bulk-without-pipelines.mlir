// Bulk stores of a kernel without pipelines and partitions.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @overwritten(%m: !m, %zero: f32) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  %f = "smem.fill"(%zero) : (f32) -> !c
  "smem.store"(%f, %t) : (!c, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.elect"() ({
    "smem.tma_store"(%t, %m, %c0, %c0) : (!t, !m, index, index) -> ()
    "smem.tma_commit"() : () -> ()
  }) {scope = "cta"} : () -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.tma_store at {{[0-9:]+}} is over; put smem.tma_wait with pending = 0 in smem.elect and smem.warpgroup_barrier between them}}
  "smem.store"(%f, %t) : (!c, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @not_fenced(%m: !m, %zero: f32) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  %f = "smem.fill"(%zero) : (f32) -> !c
  "smem.store"(%f, %t) : (!c, !t) -> ()
  gpu.barrier
  "smem.elect"() ({
    // expected-error@+1 {{is over; put smem.fence between them}}
    "smem.tma_store"(%t, %m, %c0, %c0) : (!t, !m, index, index) -> ()
    "smem.tma_commit"() : () -> ()
    "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  }) {scope = "cta"} : () -> ()
  return
}

// -----

// Proven.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @proven(%m: !m, %zero: f32) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  %f = "smem.fill"(%zero) : (f32) -> !c
  "smem.store"(%f, %t) : (!c, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.elect"() ({
    "smem.tma_store"(%t, %m, %c0, %c0) : (!t, !m, index, index) -> ()
    "smem.tma_commit"() : () -> ()
    "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  }) {scope = "cta"} : () -> ()
  gpu.barrier
  "smem.store"(%f, %t) : (!c, !t) -> ()
  return
}
