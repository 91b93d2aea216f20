// Causal attention: O = softmax(scale * Q * K^T) * V, in base 2, and the logarithm of the sums of each row's weights.
//
// Q, K and V are f16, row-major, with 64 columns; T is any multiple of 64. A CTA is one warpgroup and computes 64
// queries. It takes 64 keys at a time, and subtracts the largest score of each row so far: when that grows, the sum
// of the weights and the row of O are scaled down (flash attention). What there is once for each row is a slice.
//
// The accumulator of Q * K^T, masked and rounded to f16, is the A fragment of P * V: it stays in registers. The copy
// of K exchanges its indices, so the tile is K^T at no cost.

!matrix = memref<?x64xf16>
!rows = memref<64x64xf16, strided<[64, 1], offset: ?>>
!o_matrix = memref<?x64xf32>
!o_rows = memref<64x64xf32, strided<[64, 1], offset: ?>>
!l_vector = memref<?xf32>
!l_rows = memref<64xf32, strided<[1], offset: ?>>

!tile = !smem.tile<tensor<64x64xf16>, #smem.auto>

!scores = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!scores_running = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!weights = !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
!row = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @kernels {
  gpu.func @attention(
      %Q: !matrix {smem.name = "Q", smem.shape = ["T", 64]},
      %K: !matrix {smem.name = "K", smem.shape = ["T", 64]},
      %V: !matrix {smem.name = "V", smem.shape = ["T", 64]},
      %Scale: memref<1xf32> {smem.name = "Scale"},
      %O: !o_matrix {smem.name = "O", smem.shape = ["T", 64]},
      %L: !l_vector {smem.name = "L", smem.shape = ["T"]})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, smem.grid = [["T", 64]],
                         smem.multiples = {T = 64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %least = arith.constant 0xFF800000 : f32  // minus infinity
    %scale = memref.load %Scale[%c0] : memref<1xf32>

    // The first query of the CTA, and the 64-key blocks up to and including the diagonal.
    %block = gpu.block_id x
    %query = arith.muli %block, %c64 : index
    %key_blocks = arith.addi %block, %c1 : index

    %q = "smem.alloc"() : () -> !tile
    %k = "smem.alloc"() : () -> !tile
    %v = "smem.alloc"() : () -> !tile
    %q_rows = memref.subview %Q[%query, 0] [64, 64] [1, 1] : !matrix to !rows
    "smem.copy"(%q_rows, %q) : (!rows, !tile) -> ()

    %o_start = "smem.fill"(%zero) : (f32) -> !scores
    %m_start = "smem.fill"(%least) : (f32) -> !row
    %l_start = "smem.fill"(%zero) : (f32) -> !row
    %o, %m, %l = scf.for %i = %c0 to %key_blocks step %c1
        iter_args(%o_old = %o_start, %m_old = %m_start, %l_old = %l_start) -> (!scores, !row, !row) {
      %key = arith.muli %i, %c64 : index
      %k_rows = memref.subview %K[%key, 0] [64, 64] [1, 1] : !matrix to !rows
      %v_rows = memref.subview %V[%key, 0] [64, 64] [1, 1] : !matrix to !rows
      "smem.copy"(%k_rows, %k) {permutation = array<i64: 1, 0>} : (!rows, !tile) -> ()
      "smem.copy"(%v_rows, %v) : (!rows, !tile) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier

      %s_running = "smem.mma"(%q, %k) : (!tile, !tile) -> !scores_running
      %product = "smem.wait"(%s_running) {pending = 0 : i32} : (!scores_running) -> !scores
      %s = "smem.map"(%product) ({
      ^bb0(%x: f32, %row: index, %column: index):
        %scaled = arith.mulf %x, %scale : f32
        %at_query = arith.addi %query, %row : index
        %at_key = arith.addi %key, %column : index
        %seen = arith.cmpi ule, %at_key, %at_query : index
        %kept = arith.select %seen, %scaled, %least : f32
        gpu.yield %kept : f32
      }) : (!scores) -> !scores

      // The largest score so far, and what the sums so far are scaled by. Every query sees key 0, so the largest
      // score is finite after the first block.
      %m_block = "smem.reduce"(%s) {op = "maximumf", axis = 1 : i32} : (!scores) -> !row
      %m_new = "smem.map"(%m_old, %m_block) ({
      ^bb0(%old: f32, %new: f32):
        %most = arith.maximumf %old, %new : f32
        gpu.yield %most : f32
      }) : (!row, !row) -> !row
      %shrink = "smem.map"(%m_old, %m_new) ({
      ^bb0(%old: f32, %new: f32):
        %difference = arith.subf %old, %new : f32
        %factor = math.exp2 %difference : f32
        gpu.yield %factor : f32
      }) : (!row, !row) -> !row

      %m_scores = "smem.broadcast"(%m_new) : (!row) -> !scores
      %p = "smem.map"(%s, %m_scores) ({
      ^bb0(%x: f32, %most: f32):
        %difference = arith.subf %x, %most : f32
        %weight = math.exp2 %difference : f32
        gpu.yield %weight : f32
      }) : (!scores, !scores) -> !scores
      %l_block = "smem.reduce"(%p) {op = "add", axis = 1 : i32} : (!scores) -> !row
      %l_new = "smem.map"(%l_old, %shrink, %l_block) ({
      ^bb0(%old: f32, %factor: f32, %new: f32):
        %sum = math.fma %old, %factor, %new : f32
        gpu.yield %sum : f32
      }) : (!row, !row, !row) -> !row

      %shrink_scores = "smem.broadcast"(%shrink) : (!row) -> !scores
      %o_scaled = "smem.map"(%o_old, %shrink_scores) ({
      ^bb0(%x: f32, %factor: f32):
        %y = arith.mulf %x, %factor : f32
        gpu.yield %y : f32
      }) : (!scores, !scores) -> !scores
      %w = "smem.convert"(%p) : (!scores) -> !weights
      %o_running = "smem.mma"(%w, %v, %o_scaled) : (!weights, !tile, !scores) -> !scores_running
      %o_new = "smem.wait"(%o_running) {pending = 0 : i32} : (!scores_running) -> !scores
      // Every thread has waited for its mma, so the next copies may overwrite K and V.
      gpu.barrier
      scf.yield %o_new, %m_new, %l_new : !scores, !row, !row
    }

    %l_scores = "smem.broadcast"(%l) : (!row) -> !scores
    %o_mean = "smem.map"(%o, %l_scores) ({
    ^bb0(%x: f32, %sum: f32):
      %y = arith.divf %x, %sum : f32
      gpu.yield %y : f32
    }) : (!scores, !scores) -> !scores
    %l_log = "smem.map"(%m, %l) ({
    ^bb0(%most: f32, %sum: f32):
      %log = math.log2 %sum : f32
      %y = arith.addf %most, %log : f32
      gpu.yield %y : f32
    }) : (!row, !row) -> !row
    %o_rows = memref.subview %O[%query, 0] [64, 64] [1, 1] : !o_matrix to !o_rows
    %l_rows = memref.subview %L[%query] [64] [1] : !l_vector to !l_rows
    "smem.store"(%o_mean, %o_rows) : (!scores, !o_rows) -> ()
    "smem.store"(%l_log, %l_rows) : (!row, !l_rows) -> ()
    gpu.return
  }
}
