// Who does what in each iteration: a table beside the loop that multiplies, one column for each partition.

// RUN: smem-opt %s --smem-overlap --smem-insert-sync --smem-print-steady-state 2>&1 >/dev/null | FileCheck %s
// RUN: smem-opt %s '--smem-to-nvvm=pipeline=all insert-sync=true explain=true' 2>&1 >/dev/null | FileCheck %s --check-prefix=ALL

// RUN: smem-opt %s --smem-insert-sync --strip-debuginfo --smem-print-steady-state 2>&1 >/dev/null | FileCheck %s --check-prefix=NOWHERE

// NOWHERE:      each iteration:
// NOWHERE-NEXT:   one thread {{ *}}| a warpgroup
// NOWHERE-NEXT:   acquire the stage (i) {{ *}}| wait for the stage (i)

// CHECK:      each iteration:
// CHECK-NEXT:   one thread {{ *}}| a warpgroup
// CHECK-NEXT:   [[#]]: acquire the stage (i) | [[#]]: wait for the stage (i + 1)
// CHECK-NEXT:   [[#]]: load argument 0 by TMA (i) | [[#]]: mma 64x64x64 (i + 1)
// CHECK-NEXT:   [[#]]: commit the stage (i) {{ *}}| [[#]]: mma 64x64x64 (i)
// CHECK-NEXT:   [[#]]: acquire the stage (i) {{ *}}| [[#]]: wait until at most 1 mma runs
// CHECK-NEXT:   [[#]]: load argument 1 by TMA (i) | [[#]]: release the stage (i + 1)
// CHECK-NEXT:   [[#]]: commit the stage (i) {{ *}}| [[#]]: arithmetic
// CHECK-NEXT:   {{ *}}| [[#]]: wait for the stage (i + 1)
// CHECK-NEXT:   {{ *}}| [[#]]: wait until no mma runs
// CHECK-NEXT:   {{ *}}| [[#]]: release the stage (i)

// ALL:      each iteration:
// ALL-NEXT: one thread
!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>



func.func @chain(%k: !g, %v: !g, %out: memref<64x64xf32>, %n: index) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %q = "smem.alloc"() : () -> !t
  %ks = "smem.alloc"() : () -> !k
  %vs = "smem.alloc"() : () -> !k
  %queries = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %keys = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  %values = "smem.create_pipeline"() {stages = 3 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        %0 = "smem.producer_acquire"(%queries, %c0) : (!pipeline, index) -> index
        "smem.tma_load"(%k, %q, %queries, %c0, %c0, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
        "smem.producer_commit"(%queries, %c0) : (!pipeline, index) -> ()
        scf.for %i = %c0 to %n step %c1 {
          %row = arith.muli %i, %c64 : index
          %1 = "smem.producer_acquire"(%keys, %i) : (!pipeline, index) -> index
          %2 = "smem.stage"(%ks, %1) : (!k, index) -> !t
          "smem.tma_load"(%k, %2, %keys, %i, %row, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%keys, %i) : (!pipeline, index) -> ()
          %3 = "smem.producer_acquire"(%values, %i) : (!pipeline, index) -> index
          %4 = "smem.stage"(%vs, %3) : (!k, index) -> !t
          "smem.tma_load"(%v, %4, %values, %i, %row, %c0) : (!g, !t, !pipeline, index, index, index) -> ()
          "smem.producer_commit"(%values, %i) : (!pipeline, index) -> ()
        }
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %0 = "smem.consumer_wait"(%queries, %c0) : (!pipeline, index) -> index
      %o0 = "smem.fill"(%zero) : (f32) -> !c
      %o = scf.for %i = %c0 to %n step %c1 iter_args(%x = %o0) -> (!c) {
        %1 = "smem.consumer_wait"(%keys, %i) : (!pipeline, index) -> index
        %2 = "smem.stage"(%ks, %1) : (!k, index) -> !t
        %3 = "smem.transpose"(%2) : (!t) -> !t
        %s = "smem.mma"(%q, %3) : (!t, !t) -> !c
        "smem.consumer_release"(%keys, %i) : (!pipeline, index) -> ()
        %p = "smem.convert"(%s) : (!c) -> !a
        %4 = "smem.consumer_wait"(%values, %i) : (!pipeline, index) -> index
        %5 = "smem.stage"(%vs, %4) : (!k, index) -> !t
        %y = "smem.mma"(%p, %5, %x) : (!a, !t, !c) -> !c
        "smem.consumer_release"(%values, %i) : (!pipeline, index) -> ()
        scf.yield %y : !c
      } {smem.overlap = 1 : i64}
      "smem.store"(%o, %out) : (!c, memref<64x64xf32>) -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
