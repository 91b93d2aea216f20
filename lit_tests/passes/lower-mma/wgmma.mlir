// One mma: a fence, the instructions along k, a commit. The first ignores D if there is no accumulator; each next one
// takes the registers of the one before. Registers that other instructions have written are pinned before the fence,
// so that LLVM writes them there and not after it.

// RUN: smem-opt %s --smem-lower-mma | FileCheck %s

!d = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

gpu.module @kernels {
  // CHECK: gpu.func @gemm(%[[A:.*]]: i64, %[[B:.*]]: i64)
  gpu.func @gemm(%a: i64, %b: i64) kernel {
    // CHECK: nvvm.wgmma.fence.aligned
    // CHECK-NEXT: %[[NONE:.*]] = llvm.mlir.poison : !llvm.struct<(f32, f32, f32, f32)>
    // CHECK-NEXT: %[[A1:.*]] = arith.addi %[[A]], %{{.*}} : i64
    // CHECK-NEXT: %[[B1:.*]] = arith.addi %[[B]], %{{.*}} : i64
    // CHECK-NEXT: %[[D0:.*]] = nvvm.wgmma.mma_async %[[A]], %[[B]], %[[NONE]], <m = 64, n = 8, k = 16>, D[<f32>, <zero>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <row>] : !llvm.struct<(f32, f32, f32, f32)> -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK-NEXT: nvvm.wgmma.mma_async %[[A1]], %[[B1]], %[[D0]], <m = 64, n = 8, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <row>]
    // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
    // CHECK-NEXT: gpu.return
    %0 = "smem.mma_desc"(%a, %b) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0, 2>, b_steps = array<i64: 0, 128>} : (i64, i64) -> !d
    gpu.return
  }

  // CHECK: gpu.func @accumulate
  gpu.func @accumulate(%a: i64, %b: i64, %v: f32) kernel {
    // CHECK: %[[C:.*]] = llvm.inline_asm has_side_effects "", "=f,=f,=f,=f,0,1,2,3"
    // CHECK-NEXT: nvvm.wgmma.fence.aligned
    // CHECK-NEXT: %[[D0:.*]] = nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %[[C]], <m = 64, n = 8, k = 16>, D[<f32>, <one>]
    // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
    %c = "smem.fill"(%v) : (f32) -> !c
    %0 = "smem.mma_desc"(%a, %b, %c) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !c) -> !d
    // The next mma adds to the one in flight, with its own fence.
    // CHECK-NEXT: nvvm.wgmma.fence.aligned
    // CHECK-NEXT: nvvm.wgmma.mma_async %{{.*}}, %{{.*}}, %[[D0]], <m = 64, n = 8, k = 16>, D[<f32>, <one>]
    // CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
    %1 = "smem.mma_desc"(%a, %b, %0) {a_element = "bf16", b_element = "bf16", a_major = "k", b_major = "mn", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64, !d) -> !d
    gpu.return
  }
}
