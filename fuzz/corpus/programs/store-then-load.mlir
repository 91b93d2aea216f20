!tile = !smem.tile<tensor<64x8xf32>, #smem.layout<"(64,8):(8,1)">>
!buffer = memref<64x8xf32, #gpu.address_space<workgroup>>
!sums = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
gpu.module @kernels {
  gpu.func @kernel(%A: memref<128xf32> {smem.name = "A"}, %O: memref<128xf32> {smem.name = "O"})
      workgroup(%buffer: !buffer) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    %thread = gpu.thread_id x
    %row = arith.remui %thread, %c64 : index
    %tile = "smem.view"(%buffer) : (!buffer) -> !tile
    %sums = "smem.fill"(%one) : (f32) -> !sums
    "smem.store"(%sums, %tile) : (!sums, !tile) -> ()
    %sum = memref.load %buffer[%row, %c0] : !buffer
    memref.store %sum, %O[%thread] : memref<128xf32>
    gpu.return
  }
}
