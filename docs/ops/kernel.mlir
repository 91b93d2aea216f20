!matrix = memref<64x64xbf16>    // in global memory
!tile = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!tiles = !smem.tile<tensor<4x64x64xbf16>, #smem.auto>
!a_fragment = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
!in_flight = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!accumulator = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

gpu.module @kernels {
  memref.global "private" @shared : memref<64x64xbf16, #gpu.address_space<workgroup>>

  gpu.func @example(%A: !matrix, %B: !matrix, %D: memref<64x64xf32>, %i: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = "smem.alloc"() : () -> !tile        // A and B, which an mma may read
    %b = "smem.alloc"() : () -> !tile
    "smem.copy"(%A, %a) : (!matrix, !tile) -> ()
    "smem.copy"(%B, %b) : (!matrix, !tile) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %zero = arith.constant 0.0 : f32
    %d = "smem.fill"(%zero) : (f32) -> !accumulator   // a fragment that can be read
    // The example is here.
    gpu.return
  }
}
