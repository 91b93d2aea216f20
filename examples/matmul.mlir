// C = A * B for row-major bf16 matrices in global memory, f32 accumulators, bf16 result.
//
// M, N and K are any multiples of 128, 256 and 64. A block computes a 128x256 tile of C with two
// warpgroups, 64 rows each; K is walked in steps of 64 through four pipeline stages. Nothing below
// says swizzle, LBO or SBO: that is what the passes are for.

gpu.module @kernels {
  gpu.func @matmul(
      %A: memref<?x?xbf16> {smem.name = "A", smem.shape = ["M", "K"]},
      %B: memref<?x?xbf16> {smem.name = "B", smem.shape = ["K", "N"]},
      %C: memref<?x?xbf16> {smem.name = "C", smem.shape = ["M", "N"]})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>,
                         smem.grid = [["N", 256], ["M", 128]],
                         smem.multiples = {K = 64, M = 128, N = 256}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32

    // This block's tile of C, and this warpgroup's 64 rows of it.
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %column = arith.muli %bx, %c256 : index
    %row = arith.muli %by, %c128 : index
    %thread = gpu.thread_id x
    %warpgroup = arith.divui %thread, %c128 : index
    %part = arith.muli %warpgroup, %c64 : index

    %k = memref.dim %A, %c1 : memref<?x?xbf16>
    %steps = arith.divui %k, %c64 : index

    %as = "smem.alloc"() : () -> !smem.tile<tensor<4x128x64xbf16>, #smem.auto>
    %bs = "smem.alloc"() : () -> !smem.tile<tensor<4x64x256xbf16>, #smem.auto>

    // Fill the first two stages.
    scf.for %i = %c0 to %c2 step %c1 {
      %used = arith.cmpi ult, %i, %steps : index
      scf.if %used {
        %at = arith.muli %i, %c64 : index
        %ag = memref.subview %A[%row, %at] [128, 64] [1, 1] : memref<?x?xbf16> to memref<128x64xbf16, strided<[?, 1], offset: ?>>
        %bg = memref.subview %B[%at, %column] [64, 256] [1, 1] : memref<?x?xbf16> to memref<64x256xbf16, strided<[?, 1], offset: ?>>
        %a = "smem.stage"(%as, %i) : (!smem.tile<tensor<4x128x64xbf16>, #smem.auto>, index) -> !smem.tile<tensor<128x64xbf16>, #smem.auto>
        %b = "smem.stage"(%bs, %i) : (!smem.tile<tensor<4x64x256xbf16>, #smem.auto>, index) -> !smem.tile<tensor<64x256xbf16>, #smem.auto>
        "smem.copy_async"(%ag, %a) : (memref<128x64xbf16, strided<[?, 1], offset: ?>>, !smem.tile<tensor<128x64xbf16>, #smem.auto>) -> ()
        "smem.copy_async"(%bg, %b) : (memref<64x256xbf16, strided<[?, 1], offset: ?>>, !smem.tile<tensor<64x256xbf16>, #smem.auto>) -> ()
      }
      "smem.copy_commit"() : () -> ()
    }

    %start = "smem.fill"(%zero) : (f32) -> !smem.fragment<tensor<64x256xf32>, #smem.in_flight>
    %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %start) -> (!smem.fragment<tensor<64x256xf32>, #smem.in_flight>) {
      // Step i has arrived, for all threads and for the tensor cores; step i + 1 may be under way.
      "smem.copy_wait"() {pending = 1 : i32} : () -> ()
      "smem.fence"() : () -> ()
      gpu.barrier

      %slot = arith.remui %i, %c4 : index
      %a = "smem.stage"(%as, %slot) : (!smem.tile<tensor<4x128x64xbf16>, #smem.auto>, index) -> !smem.tile<tensor<128x64xbf16>, #smem.auto>
      %b = "smem.stage"(%bs, %slot) : (!smem.tile<tensor<4x64x256xbf16>, #smem.auto>, index) -> !smem.tile<tensor<64x256xbf16>, #smem.auto>
      %mine = "smem.subtile"(%a, %part) {static_offsets = array<i64: -9223372036854775808, 0>} : (!smem.tile<tensor<128x64xbf16>, #smem.auto>, index) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
      %d = "smem.mma"(%mine, %b, %acc) : (!smem.tile<tensor<64x64xbf16>, #smem.auto>, !smem.tile<tensor<64x256xbf16>, #smem.auto>, !smem.fragment<tensor<64x256xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x256xf32>, #smem.in_flight>

      // Copy step i + 2 meanwhile. Its stage was last read by the mma of step i - 2, which both
      // warpgroups waited for before the barrier above.
      %next = arith.addi %i, %c2 : index
      %more = arith.cmpi ult, %next, %steps : index
      scf.if %more {
        %at = arith.muli %next, %c64 : index
        %ahead = arith.remui %next, %c4 : index
        %ag = memref.subview %A[%row, %at] [128, 64] [1, 1] : memref<?x?xbf16> to memref<128x64xbf16, strided<[?, 1], offset: ?>>
        %bg = memref.subview %B[%at, %column] [64, 256] [1, 1] : memref<?x?xbf16> to memref<64x256xbf16, strided<[?, 1], offset: ?>>
        %an = "smem.stage"(%as, %ahead) : (!smem.tile<tensor<4x128x64xbf16>, #smem.auto>, index) -> !smem.tile<tensor<128x64xbf16>, #smem.auto>
        %bn = "smem.stage"(%bs, %ahead) : (!smem.tile<tensor<4x64x256xbf16>, #smem.auto>, index) -> !smem.tile<tensor<64x256xbf16>, #smem.auto>
        "smem.copy_async"(%ag, %an) : (memref<128x64xbf16, strided<[?, 1], offset: ?>>, !smem.tile<tensor<128x64xbf16>, #smem.auto>) -> ()
        "smem.copy_async"(%bg, %bn) : (memref<64x256xbf16, strided<[?, 1], offset: ?>>, !smem.tile<tensor<64x256xbf16>, #smem.auto>) -> ()
      }
      "smem.copy_commit"() : () -> ()

      %running = "smem.wait"(%d) {pending = 1 : i32} : (!smem.fragment<tensor<64x256xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x256xf32>, #smem.in_flight>
      scf.yield %running : !smem.fragment<tensor<64x256xf32>, #smem.in_flight>
    }
    %done = "smem.wait"(%sum) {pending = 0 : i32} : (!smem.fragment<tensor<64x256xf32>, #smem.in_flight>) -> !smem.fragment<tensor<64x256xf32>, #smem.accumulator>

    %mine = arith.addi %row, %part : index
    %cg = memref.subview %C[%mine, %column] [64, 256] [1, 1] : memref<?x?xbf16> to memref<64x256xbf16, strided<[?, 1], offset: ?>>
    "smem.store"(%done, %cg) : (!smem.fragment<tensor<64x256xf32>, #smem.accumulator>, memref<64x256xbf16, strided<[?, 1], offset: ?>>) -> ()
    gpu.return
  }
}
