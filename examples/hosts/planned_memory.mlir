// C = A * B' for bf16 matrices, in a kernel whose host plans shared memory itself: A is M x K, B' is given as N x K.
//
// The host has one buffer of dynamic shared memory. It keeps two stages in it, each with 64x64 elements of A and of B, at offsets
// of its own, copies by cp.async (`nvgpu.device_async_copy`), and waits with its own groups and barriers. `smem.view` only states
// what is where: the layout of the tile is the host's swizzle, row r of 128 bytes with its 16-byte units permuted by r mod 8.
// smem-check-async follows the copies and proves the order; where the offsets are not constant, it would say so.
//
// M and N are any multiples of 64, K of 128.

!bytes = memref<?xi8, #gpu.address_space<workgroup>>
!matrix = memref<?x?xbf16>
!block = memref<64x64xbf16, #gpu.address_space<workgroup>>

// B is read as K x N: the same bytes are column-major.
!a = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "column-major">>
!running = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!sum = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!c = memref<64x64xf32, strided<[?, 1], offset: ?>>

gpu.module @kernels {
  gpu.func @planned(
      %A: !matrix {smem.name = "A", smem.shape = ["M", "K"]},
      %B: !matrix {smem.name = "B", smem.shape = ["N", "K"]},
      %C: memref<?x?xf32> {smem.name = "C", smem.shape = ["M", "N"]})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>,
                         smem.grid = [["N", 64], ["M", 64]],
                         smem.multiples = {K = 128, M = 64, N = 64},
                         smem.shared_bytes = 32768 : i32} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32

    // The host's plan: A0 at 0, B0 at 8192, A1 at 16384, B1 at 24576.
    %at_b0 = arith.constant 8192 : index
    %at_a1 = arith.constant 16384 : index
    %at_b1 = arith.constant 24576 : index
    %memory = gpu.dynamic_shared_memory : !bytes
    %A0 = memref.view %memory[%c0][] : !bytes to !block
    %B0 = memref.view %memory[%at_b0][] : !bytes to !block
    %A1 = memref.view %memory[%at_a1][] : !bytes to !block
    %B1 = memref.view %memory[%at_b1][] : !bytes to !block
    %a0 = "smem.view"(%A0) : (!block) -> !a
    %b0 = "smem.view"(%B0) : (!block) -> !b
    %a1 = "smem.view"(%A1) : (!block) -> !a
    %b1 = "smem.view"(%B1) : (!block) -> !b

    // Thread t copies 16 bytes, unit t mod 8 of the rows t / 8, t / 8 + 16, and so on. The swizzle is the same in all of them.
    %t = gpu.thread_id x
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %m = arith.muli %by, %c64 : index
    %n = arith.muli %bx, %c64 : index
    %first = arith.divui %t, %c8 : index
    %unit = arith.remui %t, %c8 : index
    %phase = arith.remui %first, %c8 : index
    %permuted = arith.xori %unit, %phase : index
    %from = arith.muli %unit, %c8 : index
    %to = arith.muli %permuted, %c8 : index
    %k_end = memref.dim %A, %c1 : !matrix

    scf.for %j = %c0 to %c64 step %c16 {
      %r = arith.addi %first, %j : index
      %mr = arith.addi %m, %r : index
      %nr = arith.addi %n, %r : index
      nvgpu.device_async_copy %A[%mr, %from], %A0[%r, %to], 8 {bypassL1} : !matrix to !block
      nvgpu.device_async_copy %B[%nr, %from], %B0[%r, %to], 8 {bypassL1} : !matrix to !block
    }
    nvgpu.device_async_create_group {}

    %start = "smem.fill"(%zero) : (f32) -> !sum
    %total = scf.for %k = %c0 to %k_end step %c128 iter_args(%d = %start) -> (!sum) {
      %k1 = arith.addi %k, %c64 : index
      %k1_from = arith.addi %k1, %from : index
      scf.for %j = %c0 to %c64 step %c16 {
        %r = arith.addi %first, %j : index
        %mr = arith.addi %m, %r : index
        %nr = arith.addi %n, %r : index
        nvgpu.device_async_copy %A[%mr, %k1_from], %A1[%r, %to], 8 {bypassL1} : !matrix to !block
        nvgpu.device_async_copy %B[%nr, %k1_from], %B1[%r, %to], 8 {bypassL1} : !matrix to !block
      }
      %g1 = nvgpu.device_async_create_group
      nvgpu.device_async_wait %g1 {numGroups = 1 : i32}
      "smem.fence"() : () -> ()
      gpu.barrier
      %e = "smem.mma"(%a0, %b0, %d) : (!a, !b, !sum) -> !running
      %f = "smem.wait"(%e) {pending = 0 : i32} : (!running) -> !sum
      gpu.barrier

      %k2 = arith.addi %k, %c128 : index
      %more = arith.cmpi ult, %k2, %k_end : index
      %k2_from = arith.addi %k2, %from : index
      scf.if %more {
        scf.for %j = %c0 to %c64 step %c16 {
          %r = arith.addi %first, %j : index
          %mr = arith.addi %m, %r : index
          %nr = arith.addi %n, %r : index
          nvgpu.device_async_copy %A[%mr, %k2_from], %A0[%r, %to], 8 {bypassL1} : !matrix to !block
          nvgpu.device_async_copy %B[%nr, %k2_from], %B0[%r, %to], 8 {bypassL1} : !matrix to !block
        }
      }
      %g2 = nvgpu.device_async_create_group
      nvgpu.device_async_wait %g2 {numGroups = 1 : i32}
      "smem.fence"() : () -> ()
      gpu.barrier
      %g = "smem.mma"(%a1, %b1, %f) : (!a, !b, !sum) -> !running
      %h = "smem.wait"(%g) {pending = 0 : i32} : (!running) -> !sum
      gpu.barrier
      scf.yield %h : !sum
    }

    %c = memref.subview %C[%m, %n] [64, 64] [1, 1] : memref<?x?xf32> to !c
    "smem.store"(%total, %c) : (!sum, !c) -> ()
    gpu.return
  }
}
