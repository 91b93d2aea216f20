// A kernel in program order is compiled with its synchronization inserted, and refused without.

// RUN: smem-compile %s --emit=nvvm --insert-sync -o - | FileCheck %s
// RUN: smem-compile %s --emit=nvvm --insert-sync --explain -o - 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: %{refused} smem-compile %s --emit=nvvm -o - | FileCheck %s --check-prefix=REFUSED

// CHECK: fence.proxy
// CHECK: wgmma.mma_async
// CHECK: wgmma.wait
// EXPLAIN: insert-sync.mlir:[[MMA:[0-9]+]]:10: remark: inserted smem.fence: the smem.copy at {{.*}} is over before the smem.mma at {{.*}}
// EXPLAIN: was chosen
// REFUSED: insert-sync.mlir:[[MMA:[0-9]+]]:10: error: 'smem.mma' op results in !smem.fragment<tensor<64x64xf32>, #smem.accumulator>, which is readable; run smem-insert-sync

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
gpu.module @kernels {
  gpu.func @squared(%A: memref<64x64xbf16> {smem.name = "A"}, %D: memref<64x64xf32> {smem.name = "D"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = "smem.alloc"() : () -> !t
    "smem.copy"(%A, %t) : (memref<64x64xbf16>, !t) -> ()
    %d = "smem.mma"(%t, %t) : (!t, !t) -> !c
    "smem.store"(%d, %D) : (!c, memref<64x64xf32>) -> ()
    gpu.return
  }
}
