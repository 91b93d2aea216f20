// C = max(A * B + bias, 0) as a loop nest that upstream's passes make a kernel of, with the product of a tile by a warpgroup.
//
//   smem-opt outlined.mlir --pass-pipeline='builtin.module(func.func(gpu-map-parallel-loops,convert-parallel-loops-to-gpu,
//     canonicalize,gpu-launch-sink-index-computations),gpu-kernel-outlining)' | smem-compile - -o outlined.cubin
//
// The outer loop becomes the grid, the inner one the threads of a block. Their body moves tiles by `vector` ops: smem.offset says
// where a 16-byte unit of a tile is, in the layout that smem-assign-layouts chooses after the outlining. The epilogue works on the
// registers of the accumulator, one vector of 32 elements for each thread, with `vector` and `arith` ops.
//
// Thread t holds the rows 16 * (t / 32) + t mod 32 / 4 and 8 more, in columns 2 * (t mod 4) + 8 * c and the next one: elements
// 4 * c and 4 * c + 1 of its vector are in the first row, 4 * c + 2 and 4 * c + 3 in the second.

!workgroup = memref<4096xbf16, #gpu.address_space<workgroup>>
!tile = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!running = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!sum = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

module {
  memref.global "private" @memory_a : !workgroup
  memref.global "private" @memory_b : !workgroup

  func.func @linear(%A: memref<256x192xbf16>, %B: memref<192x128xbf16>, %bias: memref<128xf32>, %C: memref<256x128xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c192 = arith.constant 192 : index
    scf.parallel (%by, %bx) = (%c0, %c0) to (%c4, %c2) step (%c1, %c1) {
      scf.parallel (%t) = (%c0) to (%c128) step (%c1) {
        %zero = arith.constant 0.0 : f32
        %zeros = arith.constant dense<0.0> : vector<2xf32>
        %m = arith.muli %by, %c64 : index
        %n = arith.muli %bx, %c64 : index
        %memory_a = memref.get_global @memory_a : !workgroup
        %memory_b = memref.get_global @memory_b : !workgroup
        %a = "smem.view"(%memory_a) : (!workgroup) -> !tile
        %b = "smem.view"(%memory_b) : (!workgroup) -> !tile

        // Thread t moves unit t mod 8 of the rows t / 8, t / 8 + 16, and so on.
        %first = arith.divui %t, %c8 : index
        %unit = arith.remui %t, %c8 : index
        %column = arith.muli %unit, %c8 : index

        %start = "smem.fill"(%zero) : (f32) -> !sum
        %total = scf.for %k = %c0 to %c192 step %c64 iter_args(%d = %start) -> (!sum) {
          scf.for %j = %c0 to %c64 step %c16 {
            %row = arith.addi %first, %j : index
            %mr = arith.addi %m, %row : index
            %kr = arith.addi %k, %row : index
            %kc = arith.addi %k, %column : index
            %nc = arith.addi %n, %column : index
            %x = vector.load %A[%mr, %kc] : memref<256x192xbf16>, vector<8xbf16>
            %y = vector.load %B[%kr, %nc] : memref<192x128xbf16>, vector<8xbf16>
            %at_a = "smem.offset"(%a, %row, %column) {vector = array<i64: 1, 8>} : (!tile, index, index) -> index
            %at_b = "smem.offset"(%b, %row, %column) {vector = array<i64: 1, 8>} : (!tile, index, index) -> index
            vector.store %x, %memory_a[%at_a] : !workgroup, vector<8xbf16>
            vector.store %y, %memory_b[%at_b] : !workgroup, vector<8xbf16>
          }
          "smem.fence"() : () -> ()
          gpu.barrier
          %e = "smem.mma"(%a, %b, %d) : (!tile, !tile, !sum) -> !running
          %f = "smem.wait"(%e) {pending = 0 : i32} : (!running) -> !sum
          gpu.barrier
          scf.yield %f : !sum
        }

        %registers = "smem.to_registers"(%total) : (!sum) -> vector<32xf32>
        %warp = arith.divui %t, %c32 : index
        %lane = arith.remui %t, %c32 : index
        %quad = arith.divui %lane, %c4 : index
        %of_warp = arith.muli %warp, %c16 : index
        %of_lane = arith.addi %of_warp, %quad : index
        %top = arith.addi %m, %of_lane : index
        %bottom = arith.addi %top, %c8 : index
        %pair = arith.remui %lane, %c4 : index
        %pair_column = arith.muli %pair, %c2 : index
        %left = arith.addi %n, %pair_column : index
        scf.for %i = %c0 to %c8 step %c1 {
          %right = arith.muli %i, %c8 : index
          %at = arith.addi %left, %right : index
          %shift = vector.load %bias[%at] : memref<128xf32>, vector<2xf32>
          %i0 = arith.muli %i, %c4 : index
          %i1 = arith.addi %i0, %c1 : index
          %i2 = arith.addi %i0, %c2 : index
          %i3 = arith.addi %i0, %c3 : index
          %r0 = vector.extract %registers[%i0] : f32 from vector<32xf32>
          %r1 = vector.extract %registers[%i1] : f32 from vector<32xf32>
          %r2 = vector.extract %registers[%i2] : f32 from vector<32xf32>
          %r3 = vector.extract %registers[%i3] : f32 from vector<32xf32>
          %upper = vector.from_elements %r0, %r1 : vector<2xf32>
          %lower = vector.from_elements %r2, %r3 : vector<2xf32>
          %u = arith.addf %upper, %shift : vector<2xf32>
          %l = arith.addf %lower, %shift : vector<2xf32>
          %v = arith.maximumf %u, %zeros : vector<2xf32>
          %w = arith.maximumf %l, %zeros : vector<2xf32>
          vector.store %v, %C[%top, %at] : memref<256x128xf32>, vector<2xf32>
          vector.store %w, %C[%bottom, %at] : memref<256x128xf32>, vector<2xf32>
        }
        scf.reduce
      }
      scf.reduce
    }
    return
  }
}
