// A whole kernel: one warpgroup loads by TMA, the other multiplies and stores by TMA. Of smem, only the
// attributes of the tensor maps are left, one for each matrix.

// RUN: smem-opt %s --smem-to-nvvm | FileCheck %s

!matrix = memref<?x?xbf16, strided<[?, 1]>>
!a = !smem.tile<tensor<2x64x64xbf16>, #smem.auto>
!stage = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!running = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!done = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

gpu.module @kernels {
  // CHECK: gpu.func @gemm(%arg0: memref<?x?xbf16, strided<[?, 1]>>, %arg1: memref<?x?xbf16, strided<[?, 1]>>, %arg2: memref<?x?xbf16, strided<[?, 1]>>, %arg3: index
  // CHECK-SAME: %[[A:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}
  // CHECK-SAME: %[[B:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 1 : i64,
  // CHECK-SAME: %[[C:[a-z0-9]+]]: !llvm.ptr {smem.tensor_map = {argument = 2 : i64, box = array<i64: 64, 32>, contiguous = 1 : i64, element = "bf16", swizzle = "64B"}})
  // CHECK-SAME: smem.shared_bytes = 36896 : i32
  // CHECK: nvvm.prefetch tensormap, %[[A]]
  // CHECK-NEXT: nvvm.prefetch tensormap, %[[B]]
  // CHECK-NEXT: nvvm.prefetch tensormap, %[[C]]
  // CHECK: nvvm.fence.mbarrier.init
  // CHECK: gpu.barrier
  // A and B are 64x64 with swizzle 128B, SBO 1024. A is K-major: 0x4000004000010000. B is N-major, one atom wide,
  // so it has no LBO: 0x4000004000000000.
  // CHECK: %[[A_BITS:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-NEXT: arith.ori %{{.*}}, %[[A_BITS]] : i64
  // CHECK: %[[B_BITS:.*]] = arith.constant 4611686293305294848 : i64
  // CHECK-NEXT: arith.ori %{{.*}}, %[[B_BITS]] : i64
  // CHECK: nvvm.setmaxregister decrease 40
  // CHECK: nvvm.elect.sync
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.mbarrier.expect_tx
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[A]]
  // CHECK: nvvm.mbarrier.expect_tx
  // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[B]]
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: } else {
  // CHECK: nvvm.setmaxregister decrease 232
  // CHECK: scf.for
  // CHECK: nvvm.mbarrier.try_wait.parity
  // CHECK: nvvm.wgmma.mma_async
  // CHECK: wgmma.wait
  // CHECK: nvvm.bar.warp.sync
  // CHECK: nvvm.mbarrier.arrive
  // CHECK: nvvm.stmatrix
  // CHECK: nvvm.fence.proxy
  // CHECK: nvvm.barrier id
  // CHECK: nvvm.elect.sync
  // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %[[C]]
  // CHECK: nvvm.cp.async.bulk.commit.group
  // CHECK: nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NOT: "smem.
  // CHECK-NOT: !smem.
  gpu.func @gemm(%A: !matrix, %B: !matrix, %C: !matrix, %steps: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %pipeline = "smem.create_pipeline"() {stages = 2 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %as = "smem.alloc"() : () -> !a
    %bs = "smem.alloc"() : () -> !a
    %out = "smem.alloc"() : () -> !smem.tile<tensor<64x32xbf16>, #smem.auto>
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.elect"() ({
          scf.for %i = %c0 to %steps step %c1 {
            %at = arith.muli %i, %c64 : index
            %slot = "smem.producer_acquire"(%pipeline, %i) : (!smem.pipeline, index) -> index
            %a = "smem.stage"(%as, %slot) : (!a, index) -> !stage
            %b = "smem.stage"(%bs, %slot) : (!a, index) -> !stage
            "smem.tma_load"(%A, %a, %pipeline, %i, %c0, %at) : (!matrix, !stage, !smem.pipeline, index, index, index) -> ()
            "smem.tma_load"(%B, %b, %pipeline, %i, %at, %c0) : (!matrix, !stage, !smem.pipeline, index, index, index) -> ()
            "smem.producer_commit"(%pipeline, %i) : (!smem.pipeline, index) -> ()
          }
        }) {scope = "warpgroup"} : () -> ()
      }) {warpgroups = 1 : i32, registers = 40 : i32} : () -> ()
      "smem.partition"() ({
        %zero = arith.constant 0.0 : f32
        %start = "smem.fill"(%zero) : (f32) -> !done
        %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %start) -> !done {
          %slot = "smem.consumer_wait"(%pipeline, %i) : (!smem.pipeline, index) -> index
          %a = "smem.stage"(%as, %slot) : (!a, index) -> !stage
          %b = "smem.stage"(%bs, %slot) : (!a, index) -> !stage
          %d = "smem.mma"(%a, %b, %acc) : (!stage, !stage, !done) -> !running
          %e = "smem.wait"(%d) {pending = 0 : i32} : (!running) -> !done
          "smem.consumer_release"(%pipeline, %i) : (!smem.pipeline, index) -> ()
          scf.yield %e : !done
        }
        %half = "smem.columns"(%sum) {first = 0 : i64} : (!done) -> !smem.fragment<tensor<64x32xf32>, #smem.accumulator>
        "smem.store"(%half, %out) : (!smem.fragment<tensor<64x32xf32>, #smem.accumulator>, !smem.tile<tensor<64x32xbf16>, #smem.auto>) -> ()
        "smem.fence"() : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
        "smem.elect"() ({
          "smem.tma_store"(%out, %C, %c0, %c0) : (!smem.tile<tensor<64x32xbf16>, #smem.auto>, !matrix, index, index) -> ()
          "smem.tma_commit"() : () -> ()
          "smem.tma_wait"() {pending = 0 : i32, read} : () -> ()
        }) {scope = "warpgroup"} : () -> ()
      }) {warpgroups = 1 : i32, registers = 232 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
