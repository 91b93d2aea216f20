// A remark for each inserted op, at the op before which it is.

// RUN: smem-opt %s --smem-insert-sync=explain=true --verify-diagnostics
// RUN: smem-opt %s --smem-to-nvvm="insert-sync=true" | FileCheck %s

// CHECK: nvvm.fence.proxy
// CHECK: gpu.barrier
// CHECK: nvvm.wgmma.mma_async
// CHECK: wgmma.wait
// CHECK-NOT: smem.

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
gpu.module @kernels {
  gpu.func @product(%a: memref<64x64xbf16>, %o: memref<64x64xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() : () -> !t
    // expected-remark-re@+1 {{inserted smem.copy_commit: the smem.copy_async at {{[0-9:]+}} is over before the smem.mma at {{[0-9:]+}}}}
    "smem.copy_async"(%a, %t) : (memref<64x64xbf16>, !t) -> ()
    // expected-remark-re@+3 {{inserted smem.copy_wait with pending = 0: the smem.copy_async at {{[0-9:]+}} is over before the smem.mma at {{[0-9:]+}}}}
    // expected-remark-re@+2 {{inserted smem.fence: the smem.copy_async at {{[0-9:]+}} is over before the smem.mma at {{[0-9:]+}}}}
    // expected-remark-re@+1 {{inserted gpu.barrier: the smem.copy_async at {{[0-9:]+}} is over before the smem.mma at {{[0-9:]+}}}}
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !c
    // expected-remark-re@+1 {{inserted smem.wait with pending = 0: the smem.store at {{[0-9:]+}} reads the accumulator}}
    "smem.store"(%d, %o) : (!c, memref<64x64xf32>) -> ()
    gpu.return
  }
}
