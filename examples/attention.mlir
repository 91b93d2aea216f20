// O = P * V and L = P * 1 with P = exp2(scale * Q * K^T) where a key does not lie behind its query, else 0:
// causal attention for scores that need no maximum subtracted. O / L is the softmax's result.
//
// Q, K, V are f16, row-major, of 64 columns; T is any multiple of 64. A block is one warpgroup and 64
// queries. The D of the first product, masked and rounded, is the A of the second: it never leaves the
// registers. K^T is K with its indices exchanged by the copy, which costs nothing.

!matrix = memref<?x64xf16>
!rows = memref<64x64xf16, strided<[64, 1], offset: ?>>
!q = !smem.tile<tensor<64x64xf16>, #smem.auto>
!ones = !smem.tile<tensor<64x8xf16>, #smem.auto>
!scores = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!scores_flying = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!weights = !smem.fragment<tensor<64x64xf16>, #smem.a_fragment>
!sums = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!sums_flying = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>

gpu.module @kernels {
  gpu.func @attention(
      %Q: !matrix {smem.name = "Q", smem.shape = ["T", 64]},
      %K: !matrix {smem.name = "K", smem.shape = ["T", 64]},
      %V: !matrix {smem.name = "V", smem.shape = ["T", 64]},
      %One: memref<64x8xf16> {smem.name = "One"},
      %Scale: memref<1xf32> {smem.name = "Scale"},
      %O: memref<?x64xf32> {smem.name = "O", smem.shape = ["T", 64]},
      %L: memref<?x8xf32> {smem.name = "L", smem.shape = ["T", 8]})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, smem.grid = [["T", 64]],
                         smem.multiples = {T = 64}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %scale = memref.load %Scale[%c0] : memref<1xf32>

    %block = gpu.block_id x
    %query = arith.muli %block, %c64 : index
    %steps = arith.addi %block, %c1 : index

    %q = "smem.alloc"() : () -> !q
    %k = "smem.alloc"() : () -> !q
    %v = "smem.alloc"() : () -> !q
    %ones = "smem.alloc"() : () -> !ones
    %q_rows = memref.subview %Q[%query, 0] [64, 64] [1, 1] : !matrix to !rows
    "smem.copy"(%q_rows, %q) : (!rows, !q) -> ()
    "smem.copy"(%One, %ones) : (memref<64x8xf16>, !ones) -> ()

    %o_start = "smem.fill"(%zero) : (f32) -> !scores
    %l_start = "smem.fill"(%zero) : (f32) -> !sums
    %o, %l = scf.for %i = %c0 to %steps step %c1 iter_args(%o_acc = %o_start, %l_acc = %l_start) -> (!scores, !sums) {
      %key = arith.muli %i, %c64 : index
      %k_rows = memref.subview %K[%key, 0] [64, 64] [1, 1] : !matrix to !rows
      %v_rows = memref.subview %V[%key, 0] [64, 64] [1, 1] : !matrix to !rows
      "smem.copy"(%k_rows, %k) {permutation = array<i64: 1, 0>} : (!rows, !q) -> ()
      "smem.copy"(%v_rows, %v) : (!rows, !q) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier

      %s_flying = "smem.mma"(%q, %k) : (!q, !q) -> !scores_flying
      %s = "smem.wait"(%s_flying) {pending = 0 : i32} : (!scores_flying) -> !scores
      %p = "smem.map"(%s) ({
      ^bb0(%x: f32, %row: index, %column: index):
        %scaled = arith.mulf %x, %scale : f32
        %weight = math.exp2 %scaled : f32
        %at_query = arith.addi %query, %row : index
        %at_key = arith.addi %key, %column : index
        %seen = arith.cmpi ule, %at_key, %at_query : index
        %kept = arith.select %seen, %weight, %zero : f32
        "smem.yield"(%kept) : (f32) -> ()
      }) : (!scores) -> !scores
      %w = "smem.convert"(%p) : (!scores) -> !weights

      %o_flying = "smem.mma"(%w, %v, %o_acc) : (!weights, !q, !scores) -> !scores_flying
      %l_flying = "smem.mma"(%w, %ones, %l_acc) : (!weights, !ones, !sums) -> !sums_flying
      %o_next = "smem.wait"(%o_flying) {pending = 0 : i32} : (!scores_flying) -> !scores
      %l_next = "smem.wait"(%l_flying) {pending = 0 : i32} : (!sums_flying) -> !sums
      // The tiles are free for the next keys once all threads are past their products.
      gpu.barrier
      scf.yield %o_next, %l_next : !scores, !sums
    }
    %o_rows = memref.subview %O[%query, 0] [64, 64] [1, 1] : memref<?x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    %l_rows = memref.subview %L[%query, 0] [64, 8] [1, 1] : memref<?x8xf32> to memref<64x8xf32, strided<[8, 1], offset: ?>>
    "smem.store"(%o, %o_rows) : (!scores, memref<64x64xf32, strided<[64, 1], offset: ?>>) -> ()
    "smem.store"(%l, %l_rows) : (!sums, memref<64x8xf32, strided<[8, 1], offset: ?>>) -> ()
    gpu.return
  }
}
