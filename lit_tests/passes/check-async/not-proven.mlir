// Remarks state what is neither proven nor wrong, once for each op and reason.

// RUN: smem-opt %s --smem-check-async --allow-unregistered-dialect --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @divergent_branch(%m: !m) {
  %c128 = arith.constant 128 : index
  %t = "smem.alloc"() : () -> !t
  %thread = gpu.thread_id x
  %first = arith.cmpi ult, %thread, %c128 : index
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: its condition is not known to be the same for all threads}}
  scf.if %first {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  "smem.fence"() : () -> ()
  gpu.barrier
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @divergent_loop(%m: !m, %g: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %thread = gpu.thread_id x
  %n = memref.load %g[%thread] : memref<8xindex>
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: its bounds are not known to be the same for all threads}}
  scf.for %i = %c0 to %n step %c1 {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
func.func @divergent_while(%m: !m, %n: index) {
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %thread = gpu.thread_id x
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: its condition is not known to be the same for all threads}}
  %end = scf.while (%i = %thread) : (index) -> index {
    %goes_on = arith.cmpi ult, %i, %n : index
    scf.condition(%goes_on) %i : index
  } do {
  ^bb0(%i: index):
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    gpu.barrier
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  return
}

// -----

// A bound and a condition that come from arrays which are only read are the same for all threads; from an
// array that the kernel writes they are not.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
func.func @loaded(%m: !m, %g: memref<8xindex>, %masks: memref<8xf32>, %written: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  %block = gpu.block_id x
  %n = memref.load %g[%block] : memref<8xindex>
  memref.store %n, %written[%c0] : memref<8xindex>
  scf.for %i = %c0 to %n step %c1 {
    %mask = memref.load %masks[%i] : memref<8xf32>
    %used = arith.cmpf ogt, %mask, %zero : f32
    scf.if %used {
      "smem.copy"(%m, %t) : (!m, !t) -> ()
    }
  }
  %other = memref.load %written[%c0] : memref<8xindex>
  // expected-remark@+1 {{its bounds are not known to be the same for all threads}}
  scf.for %i = %c0 to %other step %c1 {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  return
}

// -----

// Correlated conditions.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @correlated(%m: !m, %c: i1) {
  %t = "smem.alloc"() : () -> !t
  scf.if %c {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  scf.if %c {
    "smem.fence"() : () -> ()
    gpu.barrier
  }
  // expected-remark@+1 {{: there may be a path without smem.fence and gpu.barrier between them}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @unknown_stage(%m: !m, %g: memref<8xindex>) {
  %c0 = arith.constant 0 : index
  %s = "smem.alloc"() : () -> !s
  %stage = memref.load %g[%c0] : memref<8xindex>
  %t = "smem.stage"(%s, %c0) : (!s, index) -> !t
  %u = "smem.stage"(%s, %stage) : (!s, index) -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  // expected-remark@+2 {{begins at a stage that is not known; it takes 1 of the tile's 2 stages; expected stage 0 to 1}}
  // expected-remark-re@+1 {{cannot prove that the smem.copy at {{[0-9:]+}} is over when this reads a stage of the smem.alloc at {{[0-9:]+}}: it is not known whether they share bytes}}
  %d = "smem.mma"(%u, %u) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @other_loops(%m: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: how it executes its regions is not known}}
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
// expected-remark@+1 {{cannot prove that accesses of tiles are in order: the function has several blocks}}
func.func @several_blocks(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  cf.br ^next
^next:
  return
}

// -----

// Memory that code outside of the function may write.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @argument(%w: !w) {
  %t = "smem.view"(%w) : (!w) -> !t
  // expected-remark-re@+1 {{cannot prove that the smem.view at {{[0-9:]+}} is written: no copy of this function writes it}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
gpu.module @kernels {
  gpu.func @stored(%m: !m, %v: bf16) workgroup(%w: !w) kernel {
    %c0 = arith.constant 0 : index
    %t = "smem.view"(%w) : (!w) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    // expected-remark-re@+1 {{cannot prove that the smem.copy at {{[0-9:]+}} is over when this overwrites the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
    memref.store %v, %w[%c0] : !w
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
    gpu.return
  }
}

// -----

// Two views of the same bytes, and two of different bytes.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!b = memref<?xi8, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @views(%m: !m) {
  %c0 = arith.constant 0 : index
  %c8192 = arith.constant 8192 : index
  %bytes = gpu.dynamic_shared_memory : !b
  %low = memref.view %bytes[%c0][] : !b to !w
  %high = memref.view %bytes[%c8192][] : !b to !w
  %t = "smem.view"(%low) : (!w) -> !t
  %u = "smem.view"(%low) : (!w) -> !t
  %v = "smem.view"(%high) : (!w) -> !t
  "smem.copy"(%m, %u) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.copy"(%m, %v) : (!m, !t) -> ()
  %d = "smem.mma"(%u, %u) : (!t, !t) -> !d
  // expected-remark-re@+1 {{cannot prove that the smem.mma at {{[0-9:]+}} is over when this overwrites the smem.view at {{[0-9:]+}}: it is not known whether they share bytes}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

// A view whose offset is not constant.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
!b = memref<?xi8, #gpu.address_space<workgroup>>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @moving(%n: index) {
  %bytes = gpu.dynamic_shared_memory : !b
  %w = memref.view %bytes[%n][] : !b to !w
  // expected-remark@+1 {{cannot prove that accesses of tiles are in order: where its memory begins is not known}}
  %t = "smem.view"(%w) : (!w) -> !t
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

// Loads and stores.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @load_after_another_order(%m: !m) {
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  "test.meet"() : () -> ()
  // expected-remark-re@+1 {{cannot prove that the smem.copy at {{[0-9:]+}} is over when this reads the smem.alloc at {{[0-9:]+}}: 'test.meet' at {{[0-9:]+}} may order them}}
  %a = "smem.load"(%t) : (!t) -> !a
  "test.meet"() : () -> ()
  // expected-remark-re@+2 {{cannot prove that the smem.load at {{[0-9:]+}} is over when this overwrites the smem.alloc at {{[0-9:]+}}: 'test.meet' at {{[0-9:]+}} may order them}}
  // expected-remark-re@+1 {{cannot prove that the smem.copy at {{[0-9:]+}} is over when this overwrites the smem.alloc at {{[0-9:]+}}: 'test.meet' at {{[0-9:]+}} may order them}}
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @store_in_a_branch(%c: !c, %if: i1) {
  %t = "smem.alloc"() : () -> !t
  scf.if %if {
    "smem.store"(%c, %t) : (!c, !t) -> ()
  }
  scf.if %if {
    gpu.barrier
  }
  // expected-remark-re@+1 {{cannot prove that the smem.store at {{[0-9:]+}} is over when this reads the smem.alloc at {{[0-9:]+}}: there may be a path without gpu.barrier between them}}
  %a = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>
func.func @loaded_view(%w: !w) {
  %t = "smem.view"(%w) : (!w) -> !t
  // expected-remark-re@+1 {{cannot prove that the smem.view at {{[0-9:]+}} is written: no copy of this function writes it}}
  %a = "smem.load"(%t) : (!t) -> !a
  return
}
