// C = A * B for row-major bf16 matrices in global memory, f32 accumulators, bf16 result.
//
// M, N and K are any multiples of 128, 256 and 64. A CTA computes a 128x256 tile of C with two warpgroups of
// 64 rows each. The mainloop walks K in blocks of 64, through four stages of A and B that cp.async fills. No
// swizzle, LBO or SBO is given here: the passes choose the layouts and compute the descriptors.
//
// In static_offsets, -9223372036854775808 is MLIR's ShapedType::kDynamic: that offset is an operand.

!matrix = memref<?x?xbf16>
!a_global = memref<128x64xbf16, strided<[?, 1], offset: ?>>
!b_global = memref<64x256xbf16, strided<[?, 1], offset: ?>>
!c_global = memref<64x256xbf16, strided<[?, 1], offset: ?>>

!a_stages = !smem.tile<tensor<4x128x64xbf16>, #smem.auto>
!b_stages = !smem.tile<tensor<4x64x256xbf16>, #smem.auto>
!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!a_rows = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x256xbf16>, #smem.auto>

!running = !smem.fragment<tensor<64x256xf32>, #smem.in_flight>
!accumulator = !smem.fragment<tensor<64x256xf32>, #smem.accumulator>

gpu.module @kernels {
  gpu.func @matmul(
      %A: !matrix {smem.name = "A", smem.shape = ["M", "K"]},
      %B: !matrix {smem.name = "B", smem.shape = ["K", "N"]},
      %C: !matrix {smem.name = "C", smem.shape = ["M", "N"]})
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

    // The CTA's tile of C, and the first of this warpgroup's 64 rows in it.
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %column = arith.muli %bx, %c256 : index
    %row = arith.muli %by, %c128 : index
    %thread = gpu.thread_id x
    %warpgroup = arith.divui %thread, %c128 : index
    %part = arith.muli %warpgroup, %c64 : index

    %k = memref.dim %A, %c1 : !matrix
    %k_blocks = arith.divui %k, %c64 : index

    %as = "smem.alloc"() : () -> !a_stages
    %bs = "smem.alloc"() : () -> !b_stages

    // Prologue: start the copies of the first two K blocks.
    scf.for %i = %c0 to %c2 step %c1 {
      %used = arith.cmpi ult, %i, %k_blocks : index
      scf.if %used {
        %at = arith.muli %i, %c64 : index
        %ag = memref.subview %A[%row, %at] [128, 64] [1, 1] : !matrix to !a_global
        %bg = memref.subview %B[%at, %column] [64, 256] [1, 1] : !matrix to !b_global
        %a = "smem.stage"(%as, %i) : (!a_stages, index) -> !a
        %b = "smem.stage"(%bs, %i) : (!b_stages, index) -> !b
        "smem.copy_async"(%ag, %a) : (!a_global, !a) -> ()
        "smem.copy_async"(%bg, %b) : (!b_global, !b) -> ()
      }
      "smem.copy_commit"() : () -> ()
    }

    %start = "smem.fill"(%zero) : (f32) -> !running
    %sum = scf.for %i = %c0 to %k_blocks step %c1 iter_args(%acc = %start) -> (!running) {
      // K block i has arrived, and all threads and the tensor cores see it. The copy of K block i + 1 may
      // still be in flight.
      "smem.copy_wait"() {pending = 1 : i32} : () -> ()
      "smem.fence"() : () -> ()
      gpu.barrier

      %slot = arith.remui %i, %c4 : index
      %a = "smem.stage"(%as, %slot) : (!a_stages, index) -> !a
      %b = "smem.stage"(%bs, %slot) : (!b_stages, index) -> !b
      %mine = "smem.subtile"(%a, %part) {static_offsets = array<i64: -9223372036854775808, 0>} : (!a, index) -> !a_rows
      %d = "smem.mma"(%mine, %b, %acc) : (!a_rows, !b, !running) -> !running

      // Copy K block i + 2 while the mma runs. Its stage was last read by the mma of K block i - 2, which
      // both warpgroups waited for before the barrier above.
      %next = arith.addi %i, %c2 : index
      %more = arith.cmpi ult, %next, %k_blocks : index
      scf.if %more {
        %at = arith.muli %next, %c64 : index
        %ahead = arith.remui %next, %c4 : index
        %ag = memref.subview %A[%row, %at] [128, 64] [1, 1] : !matrix to !a_global
        %bg = memref.subview %B[%at, %column] [64, 256] [1, 1] : !matrix to !b_global
        %an = "smem.stage"(%as, %ahead) : (!a_stages, index) -> !a
        %bn = "smem.stage"(%bs, %ahead) : (!b_stages, index) -> !b
        "smem.copy_async"(%ag, %an) : (!a_global, !a) -> ()
        "smem.copy_async"(%bg, %bn) : (!b_global, !b) -> ()
      }
      "smem.copy_commit"() : () -> ()

      %running = "smem.wait"(%d) {pending = 1 : i32} : (!running) -> !running
      scf.yield %running : !running
    }
    %done = "smem.wait"(%sum) {pending = 0 : i32} : (!running) -> !accumulator

    // Epilogue: round to bf16 and store this warpgroup's rows.
    %first_row = arith.addi %row, %part : index
    %cg = memref.subview %C[%first_row, %column] [64, 256] [1, 1] : !matrix to !c_global
    "smem.store"(%done, %cg) : (!accumulator, !c_global) -> ()
    gpu.return
  }
}
