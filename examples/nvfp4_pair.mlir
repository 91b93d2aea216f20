// The GEMM of nvfp4.mlir by CTA pairs: the two CTAs of a cluster compute a 256x128 tile of C together (tcgen05 with
// .cta_group::2), so each loads only half of B's columns.
//
// M is any multiple of 256; N and K are as in nvfp4.mlir. Each CTA loads its 128 rows of A and their scale factors,
// its 64 columns of B, and the scale factors of all 128 columns, into its own pipeline, and stores its own rows of C.
// After both CTAs have waited for a stage, one instruction reads it in both; both wait for the mma before they
// release the stage.

!element = f4E2M1FN
!held = i8
!factor = f8E4M3FN

!A = memref<?x?x!held>
!B = memref<?x?x!held, strided<[1, ?]>>
!S = memref<?x?x32x4x4x!factor>
!C = memref<?x?xbf16>
!c_global = memref<128x128xbf16, strided<[?, 1], offset: ?>>

!as = !smem.tile<tensor<4x128x256x!element>, #smem.auto>
!bs = !smem.tile<tensor<4x256x64x!element>, #smem.auto>
!ss = !smem.tile<tensor<4x128x16x!factor>, #smem.auto>
!a = !smem.tile<tensor<128x256x!element>, #smem.auto>
!b = !smem.tile<tensor<256x64x!element>, #smem.auto>
!s = !smem.tile<tensor<128x16x!factor>, #smem.auto>
!pipeline = !smem.pipeline
!running = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!accumulator = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>

gpu.module @kernels {
  gpu.func @nvfp4_pair(
      %A: !A {smem.name = "A", smem.shape = ["M", "K bytes"]},
      %B: !B {smem.name = "B", smem.shape = ["K bytes", "N"]},
      %SA: !S {smem.name = "SA", smem.shape = ["M / 128", "K factors / 4", 32, 4, 4]},
      %SB: !S {smem.name = "SB", smem.shape = ["N / 128", "K factors / 4", 32, 4, 4]},
      %Alpha: memref<1xf32> {smem.name = "Alpha"},
      %C: !C {smem.name = "C", smem.shape = ["M", "N"]})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>,
                         known_cluster_size = array<i32: 2, 1, 1>,
                         smem.grid = [["M", 128], ["N", 128]],
                         smem.multiples = {M = 256, N = 128, "K bytes" = 128}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    // Bytes of a row, and scale factors of a row, of one K block.
    %step_bytes = arith.constant 128 : index
    %step_factors = arith.constant 16 : index

    // The CTA's rows of C, the pair's columns of C, the columns of B that this CTA loads, and the number of K blocks.
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %rank = gpu.cluster_block_id x
    %row = arith.muli %bx, %c128 : index
    %column = arith.muli %by, %c128 : index
    %half = arith.muli %rank, %c64 : index
    %column_of_b = arith.addi %column, %half : index
    %bytes = memref.dim %A, %c1 : !A
    %k_blocks = arith.ceildivui %bytes, %step_bytes : index

    %as = "smem.alloc"() : () -> !as
    %bs = "smem.alloc"() : () -> !bs
    %sas = "smem.alloc"() : () -> !ss
    %sbs = "smem.alloc"() : () -> !ss
    %pipeline = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline

    "smem.warp_specialize"() ({
      // Producer: one thread loads every K block by TMA.
      "smem.partition"() ({
        "smem.elect"() ({
          scf.for %i = %c0 to %k_blocks step %c1 {
            %byte = arith.muli %i, %step_bytes : index
            %factor = arith.muli %i, %step_factors : index
            %slot = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
            %a = "smem.stage"(%as, %slot) : (!as, index) -> !a
            %b = "smem.stage"(%bs, %slot) : (!bs, index) -> !b
            %sa = "smem.stage"(%sas, %slot) : (!ss, index) -> !s
            %sb = "smem.stage"(%sbs, %slot) : (!ss, index) -> !s
            "smem.tma_load"(%A, %a, %pipeline, %i, %row, %byte) : (!A, !a, !pipeline, index, index, index) -> ()
            "smem.tma_load"(%B, %b, %pipeline, %i, %byte, %column_of_b) : (!B, !b, !pipeline, index, index, index) -> ()
            "smem.tma_load"(%SA, %sa, %pipeline, %i, %row, %factor) : (!S, !s, !pipeline, index, index, index) -> ()
            "smem.tma_load"(%SB, %sb, %pipeline, %i, %column, %factor) : (!S, !s, !pipeline, index, index, index) -> ()
            "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
          }
        }) {scope = "cta"} : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()

      // Consumer: the mainloop, then the epilogue.
      "smem.partition"() ({
        %slot = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
        %a = "smem.stage"(%as, %slot) : (!as, index) -> !a
        %b = "smem.stage"(%bs, %slot) : (!bs, index) -> !b
        %sa = "smem.stage"(%sas, %slot) : (!ss, index) -> !s
        %sb = "smem.stage"(%sbs, %slot) : (!ss, index) -> !s
        %first = "smem.mma_scaled"(%a, %b, %sa, %sb) {pair} : (!a, !b, !s, !s) -> !running

        %sum = scf.for %i = %c1 to %k_blocks step %c1 iter_args(%acc = %first) -> (!running) {
          %next = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
          %an = "smem.stage"(%as, %next) : (!as, index) -> !a
          %bn = "smem.stage"(%bs, %next) : (!bs, index) -> !b
          %san = "smem.stage"(%sas, %next) : (!ss, index) -> !s
          %sbn = "smem.stage"(%sbs, %next) : (!ss, index) -> !s
          %d = "smem.mma_scaled"(%an, %bn, %san, %sbn, %acc) {pair} : (!a, !b, !s, !s, !running) -> !running

          // The mma of the previous K block has completed, so its stage is released; this K block's mma is in flight.
          %running = "smem.wait"(%d) {pending = 1 : i32} : (!running) -> !running
          %previous = arith.subi %i, %c1 : index
          "smem.consumer_release"(%pipeline, %previous) : (!pipeline, index) -> ()
          scf.yield %running : !running
        }
        %done = "smem.wait"(%sum) {pending = 0 : i32} : (!running) -> !accumulator
        %last = arith.subi %k_blocks, %c1 : index
        "smem.consumer_release"(%pipeline, %last) : (!pipeline, index) -> ()

        %alpha = memref.load %Alpha[%c0] : memref<1xf32>
        %scaled = "smem.map"(%done) ({
        ^bb0(%x: f32):
          %y = arith.mulf %x, %alpha : f32
          gpu.yield %y : f32
        }) : (!accumulator) -> !accumulator
        %c = memref.subview %C[%row, %column] [128, 128] [1, 1] : !C to !c_global
        "smem.store"(%scaled, %c) : (!accumulator, !c_global) -> ()
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
