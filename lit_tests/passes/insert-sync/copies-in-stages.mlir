// A loop over stages that cp.async fills: one group, one wait, one fence and one barrier an iteration, as an
// author writes them. The mma of one iteration runs while the next one waits for its copies.

// RUN: smem-opt %s --smem-insert-sync | FileCheck %s
// RUN: smem-opt %s --smem-insert-sync --smem-insert-sync | FileCheck %s

!stages = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!ct = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xbf16>

// CHECK-LABEL: gpu.func @product
gpu.module @kernels {
  gpu.func @product(%a: !m, %b: !m, %out: memref<64x64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %as = "smem.alloc"() : () -> !stages
    %bs = "smem.alloc"() : () -> !stages
    // The groups are as many on both paths.
    // CHECK: scf.for
    // CHECK-NEXT: arith.cmpi
    // CHECK-NEXT: scf.if
    // CHECK-COUNT-2: "smem.copy_async"
    // CHECK-NEXT: }
    // CHECK-NEXT: "smem.copy_commit"() : () -> ()
    // CHECK-NEXT: }
    scf.for %i = %c0 to %c2 step %c1 {
      %used = arith.cmpi ult, %i, %n : index
      scf.if %used {
        %x = "smem.stage"(%as, %i) : (!stages, index) -> !t
        %y = "smem.stage"(%bs, %i) : (!stages, index) -> !t
        "smem.copy_async"(%a, %x) : (!m, !t) -> ()
        "smem.copy_async"(%b, %y) : (!m, !t) -> ()
      }
    }
    // CHECK: %[[FILL:.*]] = "smem.fill"({{.*}} #smem.in_flight>
    // CHECK-NEXT: %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[FILL]]) -> (!smem.fragment<tensor<64x64xf32>, #smem.in_flight>)
    %start = "smem.fill"(%zero) : (f32) -> !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (!c) {
      %slot = arith.remui %i, %c4 : index
      %x = "smem.stage"(%as, %slot) : (!stages, index) -> !t
      %y = "smem.stage"(%bs, %slot) : (!stages, index) -> !t
      // CHECK: "smem.copy_wait"() {pending = 1 : i32}
      // CHECK-NEXT: %[[WAITED:.*]] = "smem.wait"(%[[ACC]]) {pending = 1 : i32} : ({{.*}} #smem.in_flight>) -> {{.*}} #smem.in_flight>
      // CHECK-NEXT: "smem.fence"()
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: "smem.mma"(%{{.*}}, %{{.*}}, %[[WAITED]]) : {{.*}} -> {{.*}} #smem.in_flight>
      %d = "smem.mma"(%x, %y, %acc) : (!t, !t, !c) -> !c
      %next = arith.addi %i, %c2 : index
      %more = arith.cmpi ult, %next, %n : index
      %ahead = arith.remui %next, %c4 : index
      // CHECK: scf.if
      scf.if %more {
        %x2 = "smem.stage"(%as, %ahead) : (!stages, index) -> !t
        %y2 = "smem.stage"(%bs, %ahead) : (!stages, index) -> !t
        // CHECK-COUNT-2: "smem.copy_async"
        // CHECK-NEXT: }
        // CHECK-NEXT: "smem.copy_commit"
        "smem.copy_async"(%a, %x2) : (!m, !t) -> ()
        "smem.copy_async"(%b, %y2) : (!m, !t) -> ()
      }
      // CHECK-NEXT: scf.yield
      scf.yield %d : !c
    }
    // CHECK: %[[DONE:.*]] = "smem.wait"(%[[SUM]]) {pending = 0 : i32} : ({{.*}} #smem.in_flight>) -> {{.*}} #smem.accumulator>
    // CHECK-NEXT: "smem.store"(%[[DONE]],
    // CHECK-NEXT: gpu.return
    "smem.store"(%sum, %out) : (!c, memref<64x64xf32>) -> ()
    gpu.return
  }

  // The same with a tile that TMA stores: the copies and the mma are awaited as before.
  // CHECK-LABEL: gpu.func @stored_by_tma
  gpu.func @stored_by_tma(%a: !m, %b: !m, %out: memref<64x64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    %as = "smem.alloc"() : () -> !stages
    %bs = "smem.alloc"() : () -> !stages
    %ct = "smem.alloc"() : () -> !ct
    %start = "smem.fill"(%zero) : (f32) -> !c
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %start) -> (!c) {
      %slot = arith.remui %i, %c4 : index
      %x = "smem.stage"(%as, %slot) : (!stages, index) -> !t
      %y = "smem.stage"(%bs, %slot) : (!stages, index) -> !t
      // CHECK: "smem.copy_async"
      // CHECK-NEXT: "smem.copy_async"
      // CHECK-NEXT: "smem.copy_commit"
      // CHECK-NEXT: "smem.copy_wait"() {pending = 0 : i32}
      // CHECK-NEXT: "smem.wait"({{.*}}) {pending = 2 : i32}
      // CHECK-NEXT: "smem.fence"()
      // CHECK-NEXT: gpu.barrier
      // CHECK-NEXT: "smem.mma"
      // CHECK-NEXT: scf.yield
      "smem.copy_async"(%a, %x) : (!m, !t) -> ()
      "smem.copy_async"(%b, %y) : (!m, !t) -> ()
      %d = "smem.mma"(%x, %y, %acc) : (!t, !t, !c) -> !c
      scf.yield %d : !c
    }
    // CHECK: "smem.wait"({{.*}}) {pending = 0 : i32}
    // CHECK-NEXT: "smem.store"
    // CHECK-NEXT: "smem.fence"()
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: "smem.elect"()
    // CHECK-NEXT: "smem.tma_store"
    // CHECK-NEXT: "smem.tma_commit"
    // CHECK-NEXT: "smem.tma_wait"() {pending = 0 : i32, read}
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.return
    "smem.store"(%sum, %ct) : (!c, !ct) -> ()
    "smem.elect"() ({
      "smem.tma_store"(%ct, %out, %c0, %c0) : (!ct, memref<64x64xf32>, index, index) -> ()
    }) {scope = "cta"} : () -> ()
    gpu.return
  }
}
