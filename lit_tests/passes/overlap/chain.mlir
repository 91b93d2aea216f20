// In a chain of products, the scores of the next iteration are issued, then the weighted sums of this one; the
// arithmetic between them runs beside these.

// RUN: smem-opt %s '--smem-overlap=explain=true' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: smem-opt %s --smem-overlap --smem-insert-sync | FileCheck %s --check-prefix=SYNC
// RUN: smem-opt %s --smem-overlap --smem-insert-sync --smem-check-async --verify-diagnostics

!k = !smem.tile<tensor<3x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!g = memref<?x64xbf16>
!pipeline = !smem.pipeline
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>

// REMARK: remark: the last of 2 products of an iteration runs while the next one begins

// CHECK-LABEL: func.func @chain
// The first iteration's scores and weights come before the loop, if there is one; so does the wait for its values.
// CHECK:      %[[THERE_IS:.*]] = arith.cmpi slt, %[[C0:.*]], %[[N:.*]] : index
// CHECK-NEXT: %[[RESULT:.*]] = scf.if %[[THERE_IS]]
// CHECK-NEXT:   %[[AT:.*]] = "smem.consumer_wait"(%[[KEYS:.*]], %[[C0]])
// CHECK:        %[[S:.*]] = "smem.mma"(
// CHECK-NEXT:   "smem.consumer_release"(%[[KEYS]], %[[C0]])
// CHECK-NEXT:   %[[P:.*]] = "smem.convert"(%[[S]])
// CHECK-NEXT:   "smem.consumer_wait"(%[[VALUES:.*]], %[[C0]])
// CHECK:        scf.for %[[I:.*]] = %[[C0]] to %{{.*}} step %{{.*}} iter_args(%[[O:.*]] = %{{.*}}, %[[WEIGHTS:.*]] = %[[P]])
// CHECK-NEXT:     %[[NEXT:.*]] = arith.addi %[[I]],
// CHECK-NEXT:     "smem.consumer_wait"(%[[KEYS]], %[[NEXT]])
// CHECK:          %[[NEXT_S:.*]] = "smem.mma"(
// CHECK:          %[[STAGE:.*]] = arith.remui %[[I]], %
// CHECK-NEXT:     %[[V:.*]] = "smem.stage"(%{{.*}}, %[[STAGE]])
// CHECK-NEXT:     %[[SUM:.*]] = "smem.mma"(%[[WEIGHTS]], %[[V]], %[[O]])
// CHECK-NEXT:     "smem.consumer_release"(%[[KEYS]], %[[NEXT]])
// CHECK-NEXT:     %[[NEXT_P:.*]] = "smem.convert"(%[[NEXT_S]])
// CHECK-NEXT:     "smem.consumer_wait"(%[[VALUES]], %[[NEXT]])
// CHECK-NEXT:     "smem.consumer_release"(%[[VALUES]], %[[I]])
// CHECK-NEXT:     scf.yield %[[SUM]], %[[NEXT_P]]
// The last iteration's weighted sums come behind it.
// CHECK:        %[[LAST:.*]] = arith.subi %[[N]],
// CHECK:        "smem.mma"(
// CHECK-NEXT:   "smem.consumer_release"(%[[VALUES]], %[[LAST]])
// CHECK-NEXT:   scf.yield
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield

// The scores are waited for while the sums run.
// SYNC-LABEL: func.func @chain
// SYNC:       scf.for {{.*}} iter_args
// SYNC:         "smem.mma"
// SYNC:         "smem.mma"
// SYNC-NEXT:    "smem.wait"({{.*}}) {pending = 1 : i32}
// SYNC:         "smem.convert"
// SYNC-NEXT:    "smem.consumer_wait"
// SYNC-NEXT:    "smem.wait"({{.*}}) {pending = 0 : i32}
// SYNC-NEXT:    "smem.consumer_release"
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
