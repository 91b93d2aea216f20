// A whole mma on tcgen05: tensor memory is allocated and released, one thread issues the instructions with literal
// descriptors, all threads wait for them, and each thread loads the elements that it would have after a wgmma.
//

// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-to-nvvm{arch=sm_100a},gpu.module(canonicalize,cse))' | FileCheck %s

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<32x64xbf16>, #smem.auto>
!flying = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// The instruction: D f32, A and B bf16, B N-major, N = 64, M = 64: 0x04110490.
// CHECK-DAG: [[I:%[a-z0-9_-]+]] = arith.constant 68224144 : i32
// B: N-major, swizzle 128B, SBO 1024: 0x4000404000000000. A: K-major, swizzle 64B, SBO 512: 0x8000402000010000.
// CHECK-DAG: [[B:%[a-z0-9_-]+]] = arith.constant 4611756662049472512 : i64
// CHECK-DAG: [[A:%[a-z0-9_-]+]] = arith.constant -9223301530671579136 : i64
// CHECK: nvvm.tcgen05.alloc [[SLOT:%[a-z0-9_]+]], %c64_i32 : !llvm.ptr<3>, i32
// CHECK: nvvm.tcgen05.relinquish_alloc_permit
// CHECK-COUNT-4: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK: nvvm.fence.mbarrier.init
// CHECK: nvvm.tcgen05.fence <before>
// CHECK: gpu.barrier
// CHECK: nvvm.tcgen05.fence <after>
// CHECK: [[BASE:%[a-z0-9_]+]] = llvm.load [[SLOT]] : !llvm.ptr<3> -> i32
// CHECK: [[D:%[a-z0-9_]+]] = arith.addi [[BASE]],
// The number of mma that have been issued.
// CHECK: [[COUNT:%[a-z0-9_]+]] = llvm.alloca %c1_i32 x i32
// CHECK: arith.ori %{{.*}}, [[A]]
// CHECK: [[A0:%[a-z0-9_]+]] = llvm.inline_asm
// CHECK: arith.ori %{{.*}}, [[B]]
// CHECK: [[B0:%[a-z0-9_]+]] = llvm.inline_asm
// CHECK: [[B1:%[a-z0-9_]+]] = arith.addi [[B0]], %c128_i64
// CHECK: [[A1:%[a-z0-9_]+]] = arith.addi [[A0]], %c2_i64
// The mbarrier is free.
// CHECK: [[N:%[a-z0-9_]+]] = llvm.load [[COUNT]]
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.tcgen05.fence <before>
// CHECK: nvvm.barrier id =
// CHECK: nvvm.tcgen05.fence <after>
// CHECK-NEXT: scf.if
// CHECK-NEXT: [[TO:%[a-z0-9_]+]] = llvm.inttoptr [[D]] : i32 to !llvm.ptr<6>
// CHECK-NEXT: nvvm.tcgen05.mma [[TO]], [[A0]], [[B0]], [[I]], %false {ctaGroup = #nvvm.cta_group<cta_1>, kind = #nvvm.tcgen05_mma_kind<f16>}
// CHECK-NEXT: nvvm.tcgen05.mma [[TO]], [[A1]], [[B1]], [[I]], %true
// CHECK: nvvm.tcgen05.commit %{{.*}} : !llvm.ptr<3>
// CHECK: [[NEXT:%[a-z0-9_]+]] = arith.addi [[N]], %c1_i32
// CHECK-NEXT: llvm.store [[NEXT]], [[COUNT]]
// CHECK: nvvm.mbarrier.try_wait.parity
// CHECK: nvvm.bar.warp.sync
// CHECK: nvvm.tcgen05.fence <after>
// CHECK: nvvm.tcgen05.ld %{{.*}} {shape = #nvvm.tcgen05_ldst_shape<shape_16x256b>} : vector<32xi32>
// CHECK: nvvm.tcgen05.wait <load>
// CHECK: gpu.barrier
// CHECK: nvvm.tcgen05.dealloc %{{.*}}, %c64_i32 : !llvm.ptr<6>, i32
// CHECK: gpu.return
gpu.module @kernels {
  gpu.func @gemm(%A: memref<64x32xbf16>, %B: memref<32x64xbf16>, %D: memref<64x64xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    "smem.copy"(%A, %a) : (memref<64x32xbf16>, !a) -> ()
    "smem.copy"(%B, %b) : (memref<32x64xbf16>, !b) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !flying
    %r = "smem.wait"(%d) {pending = 0 : i32} : (!flying) -> !ready
    "smem.store"(%r, %D) : (!ready, memref<64x64xf32>) -> ()
    gpu.return
  }
}
