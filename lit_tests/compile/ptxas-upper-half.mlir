// Two warpgroups compute their rows of A at run time. LLVM must not move the constant of the descriptor into the
// add of those rows: ptxas 13.0 never sets the upper register of such a sum, and the wgmma then reads from a wrong
// address.

// RUN: smem-compile %s --emit=ptx -o - | FileCheck %s

!matrix = memref<128x64xbf16>
!a = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!mine = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!flying = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// CHECK: or.b64 [[A:%[a-z0-9]+]], %{{[a-z0-9]+}}, 4611686293305360384;
// CHECK-NOT: add.s64 %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, {{-?[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]}}
// CHECK: wgmma.mma_async
// CHECK-NOT: add.s64 %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, {{-?[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]}}
gpu.module @kernels {
  gpu.func @gemm(%A: !matrix, %B: memref<64x64xbf16>, %D: memref<128x64xf32>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    "smem.copy"(%A, %a) : (!matrix, !a) -> ()
    "smem.copy"(%B, %b) : (memref<64x64xbf16>, !b) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %thread = gpu.thread_id x
    %warpgroup = arith.divui %thread, %c128 : index
    %row = arith.muli %warpgroup, %c64 : index
    %mine = "smem.subtile"(%a, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!a, index) -> !mine
    %d = "smem.mma"(%mine, %b) : (!mine, !b) -> !flying
    %r = "smem.wait"(%d) {pending = 0 : i32} : (!flying) -> !ready
    %D0 = memref.subview %D[%row, 0] [64, 64] [1, 1] : memref<128x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    "smem.store"(%r, %D0) : (!ready, memref<64x64xf32, strided<[64, 1], offset: ?>>) -> ()
    gpu.return
  }
}
