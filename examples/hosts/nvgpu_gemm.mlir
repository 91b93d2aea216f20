// C = A * B in the structure of upstream's GEMM for sm_90: f16 matrices, f32 sums, one warpgroup for 128x128 elements of C.
//
// Everything but the product is upstream's: the tensor maps are arguments, `nvgpu.tma.async.load` fills three stages of dynamic
// shared memory, and mbarriers of the kernel say when a stage is full. `smem.view` shows the stages as tiles. The layout of a
// tile gives the box and the swizzle of its map: the rows of 64 f16 are 128 bytes, the widest box with a swizzle of 128 bytes;
// a stage of B is two such boxes.
//
// M and N are any multiples of 128. K is 512 here: upstream's kernel has static extents, too.

!sA = memref<3x128x64xf16, #gpu.address_space<workgroup>>
!sA1 = memref<128x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
!sB = memref<3x2x64x64xf16, #gpu.address_space<workgroup>>
!sB1 = memref<64x64xf16, strided<[64, 1], offset: ?>, #gpu.address_space<workgroup>>
!bytes = memref<?xi8, #gpu.address_space<workgroup>>

!mapA = !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
!mapB = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>
!full = !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 3>

!a_stages = !smem.tile<tensor<3x128x64xf16>, #smem.swizzle<"128B", "row-major">>
!b_stages = !smem.tile<tensor<3x64x128xf16>, #smem.swizzle<"128B", "row-major">>
!a = !smem.tile<tensor<128x64xf16>, #smem.swizzle<"128B", "row-major">>
!a_half = !smem.tile<tensor<64x64xf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x128xf16>, #smem.swizzle<"128B", "row-major">>

!running = !smem.fragment<tensor<64x128xf32>, #smem.in_flight>
!sum = !smem.fragment<tensor<64x128xf32>, #smem.accumulator>
!c = memref<64x128xf32, strided<[?, 1], offset: ?>>

gpu.module @kernels {
  gpu.func @gemm(
      %mapA: !mapA {smem.name = "A", smem.shape = ["M", 512]},
      %mapB: !mapB {smem.name = "B", smem.shape = [512, "N"]},
      %C: memref<?x?xf32> {smem.name = "C", smem.shape = ["M", "N"]})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>,
                         smem.grid = [["N", 128], ["M", 128]],
                         smem.multiples = {M = 128, N = 128},
                         smem.shared_bytes = 98304 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %k_blocks = arith.constant 8 : index
    %a_bytes = arith.constant 49152 : index
    %stage_bytes = arith.constant 32768 : index
    %ticks = arith.constant 10000000 : index
    %zero = arith.constant 0.0 : f32

    %thread = gpu.thread_id x
    %leader = arith.cmpi eq, %thread, %c0 : index
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %row = arith.muli %by, %c128 : index
    %column = arith.muli %bx, %c128 : index
    %column_1 = arith.addi %column, %c64 : index

    // Dynamic shared memory: the stages of A, then those of B.
    %memory = gpu.dynamic_shared_memory : !bytes
    %sA = memref.view %memory[%c0][] : !bytes to !sA
    %sB = memref.view %memory[%a_bytes][] : !bytes to !sB
    %as = "smem.view"(%sA) : (!sA) -> !a_stages
    %bs = "smem.view"(%sB) : (!sB) -> !b_stages

    %full = nvgpu.mbarrier.create -> !full
    scf.for %i = %c0 to %c3 step %c1 {
      nvgpu.mbarrier.init %full[%i], %c1, predicate = %leader : !full
    }
    nvvm.fence.mbarrier.init
    nvgpu.tma.prefetch.descriptor %mapA, predicate = %leader : !mapA
    nvgpu.tma.prefetch.descriptor %mapB, predicate = %leader : !mapB
    gpu.barrier

    // Prologue: the loads of the first two K blocks.
    scf.for %i = %c0 to %c2 step %c1 {
      %k = arith.muli %i, %c64 : index
      %toA = memref.subview %sA[%i, 0, 0] [1, 128, 64] [1, 1, 1] : !sA to !sA1
      %toB = memref.subview %sB[%i, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : !sB to !sB1
      %toB_1 = memref.subview %sB[%i, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : !sB to !sB1
      nvgpu.mbarrier.arrive.expect_tx %full[%i], %stage_bytes, predicate = %leader : !full
      nvgpu.tma.async.load %mapA[%k, %row], %full[%i] to %toA, predicate = %leader : !mapA, !full -> !sA1
      nvgpu.tma.async.load %mapB[%column, %k], %full[%i] to %toB, predicate = %leader : !mapB, !full -> !sB1
      nvgpu.tma.async.load %mapB[%column_1, %k], %full[%i] to %toB_1, predicate = %leader : !mapB, !full -> !sB1
    }

    %start = "smem.fill"(%zero) : (f32) -> !running
    %top, %bottom = scf.for %i = %c0 to %k_blocks step %c1
        iter_args(%d0 = %start, %d1 = %start) -> (!running, !running) {
      // Stage i mod 3 is full; its phase changes every third K block.
      %slot = arith.remui %i, %c3 : index
      %round = arith.divui %i, %c3 : index
      %odd = arith.remui %round, %c2 : index
      %parity = arith.cmpi eq, %odd, %c1 : index
      nvgpu.mbarrier.try_wait.parity %full[%slot], %parity, %ticks : !full

      %a = "smem.stage"(%as, %slot) : (!a_stages, index) -> !a
      %b = "smem.stage"(%bs, %slot) : (!b_stages, index) -> !b
      %a0 = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !a_half
      %a1 = "smem.subtile"(%a) {static_offsets = array<i64: 64, 0>} : (!a) -> !a_half
      %e0 = "smem.mma"(%a0, %b, %d0) : (!a_half, !b, !running) -> !running
      %e1 = "smem.mma"(%a1, %b, %d1) : (!a_half, !b, !running) -> !running

      // The mma of the K block before are over in all warps: its stage is free for K block i + 2.
      %f0 = "smem.wait"(%e0) {pending = 2 : i32} : (!running) -> !running
      %f1 = "smem.wait"(%e1) {pending = 2 : i32} : (!running) -> !running
      gpu.barrier
      %next = arith.addi %i, %c2 : index
      %more = arith.cmpi ult, %next, %k_blocks : index
      %loads = arith.andi %leader, %more : i1
      %k = arith.muli %next, %c64 : index
      %free = arith.remui %next, %c3 : index
      %toA = memref.subview %sA[%free, 0, 0] [1, 128, 64] [1, 1, 1] : !sA to !sA1
      %toB = memref.subview %sB[%free, 0, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : !sB to !sB1
      %toB_1 = memref.subview %sB[%free, 1, 0, 0] [1, 1, 64, 64] [1, 1, 1, 1] : !sB to !sB1
      nvgpu.mbarrier.arrive.expect_tx %full[%free], %stage_bytes, predicate = %loads : !full
      nvgpu.tma.async.load %mapA[%k, %row], %full[%free] to %toA, predicate = %loads : !mapA, !full -> !sA1
      nvgpu.tma.async.load %mapB[%column, %k], %full[%free] to %toB, predicate = %loads : !mapB, !full -> !sB1
      nvgpu.tma.async.load %mapB[%column_1, %k], %full[%free] to %toB_1, predicate = %loads : !mapB, !full -> !sB1
      scf.yield %f0, %f1 : !running, !running
    }

    %sum0 = "smem.wait"(%top) {pending = 0 : i32} : (!running) -> !sum
    %sum1 = "smem.wait"(%bottom) {pending = 0 : i32} : (!running) -> !sum
    %row_1 = arith.addi %row, %c64 : index
    %c_top = memref.subview %C[%row, %column] [64, 128] [1, 1] : memref<?x?xf32> to !c
    %c_bottom = memref.subview %C[%row_1, %column] [64, 128] [1, 1] : memref<?x?xf32> to !c
    "smem.store"(%sum0, %c_top) : (!sum, !c) -> ()
    "smem.store"(%sum1, %c_bottom) : (!sum, !c) -> ()
    gpu.return
  }
}
