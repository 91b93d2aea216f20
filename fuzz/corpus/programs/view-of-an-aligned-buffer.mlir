// O = A @ B
!a = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!m = memref<64x64xbf16>
gpu.module @kernels {
  gpu.func @kernel(%A: !m {smem.name = "A"}, %B: !m {smem.name = "B"}, %O: memref<64x64xf32> {smem.name = "O"})
      workgroup(%w0: memref<256xi8, #gpu.address_space<workgroup>>, %w1: memref<8192xi8, #gpu.address_space<workgroup>> {llvm.align = 1024 : i64})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0 : i8
    %t = gpu.thread_id x
    memref.store %z, %w0[%t] : memref<256xi8, #gpu.address_space<workgroup>>
    %a = "smem.view"(%w1) : (memref<8192xi8, #gpu.address_space<workgroup>>) -> !a
    %b = "smem.alloc"() : () -> !a
    "smem.copy"(%A, %a) : (!m, !a) -> ()
    "smem.copy"(%B, %b) : (!m, !a) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) : (!a, !a) -> !d
    %e = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !c
    "smem.store"(%e, %O) : (!c, memref<64x64xf32>) -> ()
    gpu.return
  }
}
