// Causal attention without the subtraction of the row maximum: O = P * V and L = P * 1, where
// P[query, key] = exp2(scale * (Q * K^T)[query, key]) if key <= query, else 0. The result of the softmax is O / L.
//
// Q, K and V are f16, row-major, with 64 columns; T is any multiple of 64. A CTA is one warpgroup and computes 64
// queries. The accumulator of Q * K^T, masked and rounded to f16, is the A fragment of P * V: it stays in
// registers. The copy of K exchanges its indices, so the tile is K^T at no cost.

!matrix = memref<?x64xf16>
!rows = memref<64x64xf16, strided<[64, 1], offset: ?>>
!o_matrix = memref<?x64xf32>
!o_rows = memref<64x64xf32, strided<[64, 1], offset: ?>>
!l_matrix = memref<?x8xf32>
!l_rows = memref<64x8xf32, strided<[8, 1], offset: ?>>

!tile = !smem.tile<tensor<64x64xf16>, #smem.auto>
!ones = !smem.tile<tensor<64x8xf16>, #smem.auto>

!scores = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!scores_running = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!weights = !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
!sums = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!sums_running = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>

gpu.module @kernels {
  gpu.func @attention(
      %Q: !matrix {smem.name = "Q", smem.shape = ["T", 64]},
      %K: !matrix {smem.name = "K", smem.shape = ["T", 64]},
      %V: !matrix {smem.name = "V", smem.shape = ["T", 64]},
      %One: memref<64x8xf16> {smem.name = "One"},
      %Scale: memref<1xf32> {smem.name = "Scale"},
      %O: !o_matrix {smem.name = "O", smem.shape = ["T", 64]},
      %L: !l_matrix {smem.name = "L", smem.shape = ["T", 8]})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, smem.grid = [["T", 64]],
                         smem.multiples = {T = 64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %scale = memref.load %Scale[%c0] : memref<1xf32>

    // The first query of the CTA, and the 64-key blocks up to and including the diagonal.
    %block = gpu.block_id x
    %query = arith.muli %block, %c64 : index
    %key_blocks = arith.addi %block, %c1 : index

    %q = "smem.alloc"() : () -> !tile
    %k = "smem.alloc"() : () -> !tile
    %v = "smem.alloc"() : () -> !tile
    %ones = "smem.alloc"() : () -> !ones
    %q_rows = memref.subview %Q[%query, 0] [64, 64] [1, 1] : !matrix to !rows
    "smem.copy"(%q_rows, %q) : (!rows, !tile) -> ()
    "smem.copy"(%One, %ones) : (memref<64x8xf16>, !ones) -> ()

    %o_start = "smem.fill"(%zero) : (f32) -> !scores
    %l_start = "smem.fill"(%zero) : (f32) -> !sums
    %o, %l = scf.for %i = %c0 to %key_blocks step %c1 iter_args(%o_acc = %o_start, %l_acc = %l_start) -> (!scores, !sums) {
      %key = arith.muli %i, %c64 : index
      %k_rows = memref.subview %K[%key, 0] [64, 64] [1, 1] : !matrix to !rows
      %v_rows = memref.subview %V[%key, 0] [64, 64] [1, 1] : !matrix to !rows
      "smem.copy"(%k_rows, %k) {permutation = array<i64: 1, 0>} : (!rows, !tile) -> ()
      "smem.copy"(%v_rows, %v) : (!rows, !tile) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier

      %s_running = "smem.mma"(%q, %k) : (!tile, !tile) -> !scores_running
      %s = "smem.wait"(%s_running) {pending = 0 : i32} : (!scores_running) -> !scores
      %p = "smem.map"(%s) ({
      ^bb0(%x: f32, %row: index, %column: index):
        %scaled = arith.mulf %x, %scale : f32
        %weight = math.exp2 %scaled : f32
        %at_query = arith.addi %query, %row : index
        %at_key = arith.addi %key, %column : index
        %seen = arith.cmpi ule, %at_key, %at_query : index
        %kept = arith.select %seen, %weight, %zero : f32
        gpu.yield %kept : f32
      }) : (!scores) -> !scores
      %w = "smem.convert"(%p) : (!scores) -> !weights

      %o_running = "smem.mma"(%w, %v, %o_acc) : (!weights, !tile, !scores) -> !scores_running
      %l_running = "smem.mma"(%w, %ones, %l_acc) : (!weights, !ones, !sums) -> !sums_running
      %o_next = "smem.wait"(%o_running) {pending = 0 : i32} : (!scores_running) -> !scores
      %l_next = "smem.wait"(%l_running) {pending = 0 : i32} : (!sums_running) -> !sums
      // Every thread has waited for its mma, so the next copies may overwrite K and V.
      gpu.barrier
      scf.yield %o_next, %l_next : !scores, !sums
    }
    %o_rows = memref.subview %O[%query, 0] [64, 64] [1, 1] : !o_matrix to !o_rows
    %l_rows = memref.subview %L[%query, 0] [64, 8] [1, 1] : !l_matrix to !l_rows
    "smem.store"(%o, %o_rows) : (!scores, !o_rows) -> ()
    "smem.store"(%l, %l_rows) : (!sums, !l_rows) -> ()
    gpu.return
  }
}
