// A view of dynamic shared memory and all other uses of it have one symbol, which is aligned for the tile. LLVM
// would assume that two symbols do not alias.

// RUN: smem-compile %s --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!m = memref<64x64xbf16>
!w = memref<4096xbf16, #gpu.address_space<workgroup>>

// CHECK: .extern .shared .align 1024 .b8 __dynamic_shmem__0[];
// CHECK-NOT: __smem_dynamic
gpu.module @kernels {
  gpu.func @kernel(%A: !m {smem.name = "A"}, %O: memref<128xbf16> {smem.name = "O"})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %w = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to !w
    %t = "smem.view"(%w) : (!w) -> !t
    "smem.copy"(%A, %t) : (!m, !t) -> ()
    gpu.barrier
    %thread = gpu.thread_id x
    %x = memref.load %w[%thread] : !w
    memref.store %x, %O[%thread] : memref<128xbf16>
    gpu.return
  }
}
