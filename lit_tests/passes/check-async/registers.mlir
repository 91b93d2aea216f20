// Registers of A that an mma in flight reads are not written again: an op in a loop writes the same ones.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
func.func @in_flight(%g: !m, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %f = "smem.fill"(%zero) : (f32) -> !d
  %e = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (!d) {
    // expected-error-re@+1 {{'smem.load' op writes registers that the smem.mma at {{[0-9:]+}} may still be reading, in iteration 1 (from 0) of the loop at {{[0-9:]+}}; put smem.wait with pending = 0 between them}}
    %a = "smem.load"(%t) : (!t) -> !a
    %d = "smem.mma"(%a, %t, %acc) : (!a, !t, !d) -> !d
    %w = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !d
    scf.yield %w : !d
  }
  return
}

// -----

// Proven: the mma is waited for before, reads what no op of the loop writes, or each mma reads other registers.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xbf16>
func.func @proven(%g: !m, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %f = "smem.fill"(%zero) : (f32) -> !d
  %same = "smem.load"(%t) : (!t) -> !a
  %e = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (!d) {
    %a = "smem.load"(%t) : (!t) -> !a
    %d = "smem.mma"(%a, %t, %acc) : (!a, !t, !d) -> !d
    %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !d
    %b = "smem.mma"(%same, %t, %w) : (!a, !t, !d) -> !d
    scf.yield %b : !d
  }
  %a0 = "smem.load"(%t) : (!t) -> !a
  %d0 = "smem.mma"(%a0, %t, %e) : (!a, !t, !d) -> !d
  %a1 = "smem.load"(%t) : (!t) -> !a
  %d1 = "smem.mma"(%a1, %t, %d0) : (!a, !t, !d) -> !d
  return
}

// -----

// Registers that a loop carries are written at the end of an iteration.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!m = memref<64x64xbf16>
func.func @carried(%g: !m, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %f = "smem.fill"(%zero) : (f32) -> !d
  %first = "smem.load"(%t) : (!t) -> !a
  // expected-error-re@+1 {{'scf.for' op writes registers that the smem.mma at {{[0-9:]+}} may still be reading}}
  %e:2 = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f, %a = %first) -> (!d, !a) {
    %d = "smem.mma"(%a, %t, %acc) : (!a, !t, !d) -> !d
    %next = "smem.load"(%t) : (!t) -> !a
    scf.yield %d, %next : !d, !a
  }
  return
}

// -----

// In a partition, with pipelines.

!s = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x?xbf16, strided<[?, 1]>>
!pipeline = !smem.pipeline
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @in_a_partition(%g: !g, %n: index, %zero: f32) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = "smem.alloc"() : () -> !s
  %q = "smem.alloc"() : () -> !t
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
      %o = "smem.fill"(%zero) : (f32) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
      "smem.store"(%o, %q) : (!smem.fragment<tensor<64x64xf32>, #smem.accumulator>, !t) -> ()
      "smem.fence"() : () -> ()
      "smem.warpgroup_barrier"() : () -> ()
      %f = "smem.fill"(%zero) : (f32) -> !d
      %e = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (!d) {
        %w = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
        %t = "smem.stage"(%s, %w) : (!s, index) -> !t
        // expected-error-re@+1 {{'smem.load' op writes registers that the smem.mma at {{[0-9:]+}} may still be reading; put smem.wait with pending = 0 between them}}
        %a = "smem.load"(%t) : (!t) -> !a
        "smem.fence"() : () -> ()
        %d = "smem.mma"(%a, %q, %acc) : (!a, !t, !d) -> !d
        "smem.consumer_release"(%pipeline, %i) : (!pipeline, index) -> ()
        scf.yield %d : !d
      }
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// A vector of the host becomes registers of A.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!m = memref<64x64xbf16>
func.func @of_a_vector(%g: !m, %vectors: memref<?x32xbf16>, %n: index, %zero: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%g, %t) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %f = "smem.fill"(%zero) : (f32) -> !d
  %e = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %f) -> (!d) {
    %v = vector.load %vectors[%i, %c0] : memref<?x32xbf16>, vector<32xbf16>
    // expected-error-re@+1 {{'smem.from_registers' op writes registers that the smem.mma at {{[0-9:]+}} may still be reading, in iteration 1 (from 0) of the loop}}
    %a = "smem.from_registers"(%v) : (vector<32xbf16>) -> !a
    %d = "smem.mma"(%a, %t, %acc) : (!a, !t, !d) -> !d
    %w = "smem.wait"(%d) {pending = 1 : i32} : (!d) -> !d
    scf.yield %w : !d
  }
  return
}
