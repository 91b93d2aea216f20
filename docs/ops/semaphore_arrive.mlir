// The CTAs along x store a part each; the last of them adds all parts, in their order.
!accumulator = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!part = memref<64x64xf32, strided<[64, 1], offset: ?>>

gpu.module @kernels {
  gpu.func @example(%parts: memref<?x64x64xf32>, %S: memref<?xi32>, %D: memref<64x64xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %d = "smem.fill"(%zero) : (f32) -> !accumulator
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %i = gpu.block_id x
    %n = gpu.grid_dim x
    %own = memref.subview %parts[%i, 0, 0] [1, 64, 64] [1, 1, 1] : memref<?x64x64xf32> to !part
    "smem.store"(%d, %own) : (!accumulator, !part) -> ()
    %last = "smem.semaphore_arrive"(%S, %c0, %n) : (memref<?xi32>, index, index) -> i1
    scf.if %last {
      %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %d) -> (!accumulator) {
        %part = memref.subview %parts[%k, 0, 0] [1, 64, 64] [1, 1, 1] : memref<?x64x64xf32> to !part
        %x = "smem.load"(%part) : (!part) -> !accumulator
        %added = "smem.map"(%s, %x) ({
        ^bb0(%a: f32, %b: f32):
          %c = arith.addf %a, %b : f32
          gpu.yield %c : f32
        }) : (!accumulator, !accumulator) -> !accumulator
        scf.yield %added : !accumulator
      }
      "smem.store"(%sum, %D) : (!accumulator, memref<64x64xf32>) -> ()
    }
    gpu.return
  }
}
