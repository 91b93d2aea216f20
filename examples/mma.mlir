// One warpgroup computes D = A * B, 64x64x64, on an H100 or H200.
!A = memref<64x64xbf16>
!D = memref<64x64xf32>
!tile = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!in_flight = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!accumulator = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

gpu.module @kernels {
  gpu.func @mma(%A: !A, %B: !A, %D: !D) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = "smem.alloc"() : () -> !tile
    %b = "smem.alloc"() : () -> !tile
    "smem.copy"(%A, %a) : (!A, !tile) -> ()                 // swizzled 16-byte stores
    "smem.copy"(%B, %b) : (!A, !tile) -> ()
    "smem.fence"() : () -> ()                               // before wgmma reads them
    gpu.barrier
    %0 = "smem.mma"(%a, %b) : (!tile, !tile) -> !in_flight  // four wgmma of m64n64k16
    %1 = "smem.wait"(%0) {pending = 0 : i32} : (!in_flight) -> !accumulator
    "smem.store"(%1, %D) : (!accumulator, !D) -> ()
    gpu.return
  }
}
