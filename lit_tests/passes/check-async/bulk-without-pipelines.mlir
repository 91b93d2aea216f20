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
  // expected-error-re@+1 {{'smem.store' op overwrites the smem.alloc at {{[0-9:]+}} before the smem.tma_store at {{[0-9:]+}} is over; put smem.tma_wait with pending = 0 in smem.elect and gpu.barrier between them}}
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

// -----

// Copies by cp.async are in flight beside bulk stores: each wait is for its own groups.

!s = !smem.tile<tensor<2x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @beside_copies(%m: !m, %out: !m, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %s = "smem.alloc"() : () -> !s
  scf.for %i = %c0 to %n step %c1 {
    %stage = arith.remui %i, %c2 : index
    %t = "smem.stage"(%s, %stage) : (!s, index) -> !t
    "smem.copy_async"(%m, %t) : (!m, !t) -> ()
    "smem.copy_commit"() : () -> ()
    "smem.copy_wait"() {pending = 0 : i32} : () -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    "smem.elect"() ({
      "smem.tma_store"(%t, %out, %c0, %c0) : (!t, !m, index, index) -> ()
      "smem.tma_commit"() : () -> ()
      "smem.tma_wait"() {pending = 1 : i32} : () -> ()
    }) {scope = "cta"} : () -> ()
    gpu.barrier
  }
  "smem.elect"() ({
    "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  }) {scope = "cta"} : () -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @not_awaited(%m: !m, %out: !m) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.elect"() ({
    // expected-error@+1 {{may still read its tile when the kernel ends; put smem.tma_wait with pending = 0 in smem.elect before the end}}
    "smem.tma_store"(%t, %out, %c0, %c0) : (!t, !m, index, index) -> ()
    "smem.tma_commit"() : () -> ()
  }) {scope = "cta"} : () -> ()
  return
}

// -----

// A wait by all threads is one by the elected thread, too; what other elected threads await is not.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @by_other_threads(%m: !m, %out: !m, %more: i1) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.elect"() ({
    "smem.tma_store"(%t, %out, %c0, %c0) : (!t, !m, index, index) -> ()
    "smem.tma_commit"() : () -> ()
  }) {scope = "warpgroup"} : () -> ()
  "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  scf.if %more {
    "smem.elect"() ({
      // expected-error@+1 {{may still read its tile when the kernel ends; put smem.tma_wait with pending = 0 in smem.elect before the end}}
      "smem.tma_store"(%t, %out, %c0, %c0) : (!t, !m, index, index) -> ()
      "smem.tma_commit"() : () -> ()
    }) {scope = "warpgroup"} : () -> ()
    "smem.elect"() ({
      "smem.tma_wait"() {pending = 0 : i32} : () -> ()
    }) {scope = "cta"} : () -> ()
  }
  return
}

// -----

// What one elected thread cannot execute, and what all threads should not, is not followed.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @not_followed(%m: !m, %out: !m) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "smem.elect"() ({
    // expected-remark@+1 {{one thread executes it, but whole warpgroups must}}
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    // expected-remark@+1 {{not all threads of the CTA execute it}}
    gpu.barrier
  }) {scope = "cta"} : () -> ()
  "smem.copy_async"(%m, %t) : (!m, !t) -> ()
  "smem.elect"() ({
    // Each thread has groups of copies of its own.
    // expected-remark@+1 {{not all threads of the CTA execute it}}
    "smem.copy_commit"() : () -> ()
    // expected-remark@+1 {{not all threads of the CTA execute it}}
    "smem.copy_wait"() {pending = 0 : i32} : () -> ()
    // expected-remark@+1 {{not all threads of the CTA execute it}}
    %group = nvgpu.device_async_create_group
    // expected-remark@+1 {{not all threads of the CTA execute it}}
    nvgpu.device_async_wait %group
  }) {scope = "cta"} : () -> ()
  // expected-remark@+1 {{it is not in an smem.elect: each thread that executes it stores the tile}}
  "smem.tma_store"(%t, %out, %c0, %c0) : (!t, !m, index, index) -> ()
  return
}
