// C = alpha * (A * SA) * (B * SB) for 4-bit floats (e2m1), each 16 along K with a factor of f8E4M3FN, as NVFP4
// has them; f32 accumulators, bf16 result. Blackwell (sm_100a, sm_103a) alone multiplies so.
//
// M, N and K are any multiples of 128, 128 and 256. A block computes a 128x128 tile of C: one thread loads by TMA
// into a pipeline of four stages, one warpgroup multiplies. A is row-major and B column-major, two elements to a
// byte; the factors lie in blocks of 128 rows and 4 factors, as cuBLAS has them (docs/howto/scale-factors.md).
//
// Change these for other formats; the bytes of a step along K stay 128:
//
//            !element   !held      K of a tile   !factor     factors of a row
//   nvfp4    f4E2M1FN   i8         256           f8E4M3FN    16
//   mxfp4    f4E2M1FN   i8         256           f8E8M0FNU   8
//   mxfp8    f8E4M3FN   f8E4M3FN   128           f8E8M0FNU   4
//
// With K = 768 (384 bytes, 48 factors) and two stages, an instruction reads 48 bytes along K on sm_103a.

!element = f4E2M1FN
!held = i8
!factor = f8E4M3FN

!A = memref<?x?x!held>
!B = memref<?x?x!held, strided<[1, ?]>>
!S = memref<?x?x32x4x4x!factor>
!C = memref<?x?xbf16>
!part_of_c = memref<128x128xbf16, strided<[?, 1], offset: ?>>

!as = !smem.tile<tensor<4x128x256x!element>, #smem.auto>
!bs = !smem.tile<tensor<4x256x128x!element>, #smem.auto>
!ss = !smem.tile<tensor<4x128x16x!factor>, #smem.auto>
!a = !smem.tile<tensor<128x256x!element>, #smem.auto>
!b = !smem.tile<tensor<256x128x!element>, #smem.auto>
!s = !smem.tile<tensor<128x16x!factor>, #smem.auto>
!pipeline = !smem.pipeline
!running = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!readable = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>

gpu.module @kernels {
  gpu.func @nvfp4(
      %A: !A {smem.name = "A", smem.shape = ["M", "K bytes"]},
      %B: !B {smem.name = "B", smem.shape = ["K bytes", "N"]},
      %SA: !S {smem.name = "SA", smem.shape = ["M / 128", "K factors / 4", 32, 4, 4]},
      %SB: !S {smem.name = "SB", smem.shape = ["N / 128", "K factors / 4", 32, 4, 4]},
      %Alpha: memref<1xf32> {smem.name = "Alpha"},
      %C: !C {smem.name = "C", smem.shape = ["M", "N"]})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>,
                         smem.grid = [["N", 128], ["M", 128]],
                         smem.multiples = {M = 128, N = 128, "K bytes" = 128}} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %step_bytes = arith.constant 128 : index
    %step_factors = arith.constant 16 : index

    // This block's tile of C, and the steps along K.
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %column = arith.muli %bx, %c128 : index
    %row = arith.muli %by, %c128 : index
    %bytes = memref.dim %A, %c1 : !A
    %steps = arith.ceildivui %bytes, %step_bytes : index

    %as = "smem.alloc"() : () -> !as
    %bs = "smem.alloc"() : () -> !bs
    %sas = "smem.alloc"() : () -> !ss
    %sbs = "smem.alloc"() : () -> !ss
    %pipeline = "smem.create_pipeline"() {stages = 4 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !pipeline

    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.elect"() ({
          scf.for %i = %c0 to %steps step %c1 {
            %byte = arith.muli %i, %step_bytes : index
            %factor = arith.muli %i, %step_factors : index
            %slot = "smem.producer_acquire"(%pipeline, %i) : (!pipeline, index) -> index
            %a = "smem.stage"(%as, %slot) : (!as, index) -> !a
            %b = "smem.stage"(%bs, %slot) : (!bs, index) -> !b
            %sa = "smem.stage"(%sas, %slot) : (!ss, index) -> !s
            %sb = "smem.stage"(%sbs, %slot) : (!ss, index) -> !s
            "smem.tma_load"(%A, %a, %pipeline, %i, %row, %byte) : (!A, !a, !pipeline, index, index, index) -> ()
            "smem.tma_load"(%B, %b, %pipeline, %i, %byte, %column) : (!B, !b, !pipeline, index, index, index) -> ()
            "smem.tma_load"(%SA, %sa, %pipeline, %i, %row, %factor) : (!S, !s, !pipeline, index, index, index) -> ()
            "smem.tma_load"(%SB, %sb, %pipeline, %i, %column, %factor) : (!S, !s, !pipeline, index, index, index) -> ()
            "smem.producer_commit"(%pipeline, %i) : (!pipeline, index) -> ()
          }
        }) {scope = "block"} : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()

      "smem.partition"() ({
        %slot = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index
        %a = "smem.stage"(%as, %slot) : (!as, index) -> !a
        %b = "smem.stage"(%bs, %slot) : (!bs, index) -> !b
        %sa = "smem.stage"(%sas, %slot) : (!ss, index) -> !s
        %sb = "smem.stage"(%sbs, %slot) : (!ss, index) -> !s
        %first = "smem.mma_scaled"(%a, %b, %sa, %sb) : (!a, !b, !s, !s) -> !running

        %sum = scf.for %i = %c1 to %steps step %c1 iter_args(%acc = %first) -> (!running) {
          %next = "smem.consumer_wait"(%pipeline, %i) : (!pipeline, index) -> index
          %an = "smem.stage"(%as, %next) : (!as, index) -> !a
          %bn = "smem.stage"(%bs, %next) : (!bs, index) -> !b
          %san = "smem.stage"(%sas, %next) : (!ss, index) -> !s
          %sbn = "smem.stage"(%sbs, %next) : (!ss, index) -> !s
          %d = "smem.mma_scaled"(%an, %bn, %san, %sbn, %acc) : (!a, !b, !s, !s, !running) -> !running

          // The mma of the step before is over, so its stage is free; that of this step goes on.
          %running = "smem.wait"(%d) {pending = 1 : i32} : (!running) -> !running
          %before = arith.subi %i, %c1 : index
          "smem.consumer_release"(%pipeline, %before) : (!pipeline, index) -> ()
          scf.yield %running : !running
        }
        %done = "smem.wait"(%sum) {pending = 0 : i32} : (!running) -> !readable
        %last = arith.subi %steps, %c1 : index
        "smem.consumer_release"(%pipeline, %last) : (!pipeline, index) -> ()

        %alpha = memref.load %Alpha[%c0] : memref<1xf32>
        %scaled = "smem.map"(%done) ({
        ^bb0(%x: f32):
          %y = arith.mulf %x, %alpha : f32
          "smem.yield"(%y) : (f32) -> ()
        }) : (!readable) -> !readable
        %c = memref.subview %C[%row, %column] [128, 128] [1, 1] : !C to !part_of_c
        "smem.store"(%scaled, %c) : (!readable, !part_of_c) -> ()
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
