// O = A @ B
!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!f = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!m = !smem.fragment<tensor<64x16xbf16>, #smem.a_fragment>
gpu.module @kernels {
  gpu.func @kernel(%A: memref<64x16xbf16> {smem.name = "A"}, %B: memref<16x8xbf16> {smem.name = "B"}, %O: memref<64x8xf32> {smem.name = "O"})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    "smem.copy"(%A, %a) : (memref<64x16xbf16>, !a) -> ()
    "smem.copy"(%B, %b) : (memref<16x8xbf16>, !b) -> ()
    %f = "smem.fill"(%zero) : (f32) -> !d
    "smem.fence"() : () -> ()
    gpu.barrier
    %m = "smem.load"(%a) : (!a) -> !m
    %d = "smem.mma"(%m, %b, %f) : (!m, !b, !d) -> !d
    %w = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !f
    "smem.store"(%w, %O) : (!f, memref<64x8xf32>) -> ()
    gpu.return
  }
}
