// For sm_100a: mxfp8, 32 elements along K share a factor.
!elements = !smem.tile<tensor<128x128xf8E4M3FN>, #smem.auto>
!factors = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
!sum = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!result = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>

gpu.module @kernels {
  gpu.func @mxfp8(%X: memref<128x128xf8E4M3FN>, %Y: memref<128x128xf8E4M3FN>, %D: memref<128x128xf32>,
                  %XS: memref<1x1x32x4x4xf8E8M0FNU>, %YS: memref<1x1x32x4x4xf8E8M0FNU>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = "smem.alloc"() : () -> !elements
    %y = "smem.alloc"() : () -> !elements
    %xs = "smem.alloc"() : () -> !factors
    %ys = "smem.alloc"() : () -> !factors
    "smem.copy"(%X, %x) : (memref<128x128xf8E4M3FN>, !elements) -> ()
    "smem.copy"(%Y, %y) {relayout} : (memref<128x128xf8E4M3FN>, !elements) -> ()
    "smem.copy"(%XS, %xs) : (memref<1x1x32x4x4xf8E8M0FNU>, !factors) -> ()
    "smem.copy"(%YS, %ys) : (memref<1x1x32x4x4xf8E8M0FNU>, !factors) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %sum = "smem.mma_scaled"(%x, %y, %xs, %ys) : (!elements, !elements, !factors, !factors) -> !sum
    %done = "smem.wait"(%sum) {pending = 0 : i32} : (!sum) -> !result
    "smem.store"(%done, %D) : (!result, memref<128x128xf32>) -> ()
    gpu.return
  }
}
