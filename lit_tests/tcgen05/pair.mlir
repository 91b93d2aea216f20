// A CTA pair: both CTAs allocate and release tensor memory, their leaders synchronize before each mma, the leader
// of the even CTA issues it with the M of both, and its commit arrives in both.

// RUN: smem-opt %s --pass-pipeline='builtin.module(smem-to-nvvm{arch=sm_100a},gpu.module(canonicalize,cse))' | FileCheck %s

!a = !smem.tile<tensor<128x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<32x64xbf16>, #smem.auto>
!flying = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>

// B: N-major, swizzle 128B, SBO 1024: 0x4000404000000000. A: K-major, swizzle 64B, SBO 512: 0x8000402000010000.
// CHECK-DAG: [[B:%[a-z0-9_-]+]] = arith.constant 4611756662049472512 : i64
// CHECK-DAG: [[A:%[a-z0-9_-]+]] = arith.constant -9223301530671579136 : i64
// CHECK: [[RANK:%[0-9]+]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK: [[ODD:%[0-9]+]] = arith.andi [[RANK]], %c1_i32
// CHECK: [[EVEN:%[0-9]+]] = arith.cmpi eq, [[ODD]], %c0_i32
// CHECK: [[PEER:%[0-9]+]] = arith.xori [[RANK]], %c1_i32
// CHECK: [[FIRST:%[0-9]+]] = arith.subi [[RANK]], [[ODD]]
// CHECK: [[BOTH:%[0-9]+]] = arith.shli %c3_i32, [[FIRST]]
// CHECK: [[MASK:%[0-9]+]] = arith.trunci [[BOTH]] : i32 to i16
// CHECK: nvvm.tcgen05.alloc %{{.*}}, %c128_i32 {group = #nvvm.cta_group<cta_2>}
// CHECK: nvvm.tcgen05.relinquish_alloc_permit {group = #nvvm.cta_group<cta_2>}
// CHECK-COUNT-4: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK: nvvm.mbarrier.init %{{.*}}, %c2_i32
// CHECK: nvvm.tcgen05.fence <before>
// CHECK-NEXT: nvvm.cluster.arrive {aligned}
// CHECK-NEXT: nvvm.cluster.wait {aligned}
// CHECK-NEXT: nvvm.tcgen05.fence <after>
// CHECK: arith.ori %{{.*}}, [[A]] : i64
// CHECK-NEXT: [[A0:%[0-9]+]] = llvm.inline_asm
// CHECK: arith.ori %{{.*}}, [[B]] : i64
// CHECK-NEXT: [[B0:%[0-9]+]] = llvm.inline_asm
// Each leader arrives at the mbarrier of its own CTA first, then at that of the other.
// CHECK: scf.if
// CHECK: [[STATE:%[0-9]+]] = nvvm.mbarrier.arrive [[OWN:%[0-9]+]] {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<3> -> i64
// CHECK-NEXT: [[THERE:%[0-9]+]] = nvvm.mapa [[OWN]], [[PEER]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT: nvvm.mbarrier.arrive [[THERE]] {scope = #nvvm.mem_scope<cluster>} : !llvm.ptr<7>
// CHECK-NEXT: scf.while
// CHECK-NEXT: nvvm.mbarrier.try_wait [[OWN]], [[STATE]] {scope = #nvvm.mem_scope<cluster>}
// CHECK: nvvm.tcgen05.fence <after>
// CHECK-NEXT: scf.if [[EVEN]]
// D f32, bf16 (0x480), B N-major (0x10000), N = 128 (0x00200000), M = 256 (0x10000000): 0x10210490.
// CHECK: nvvm.tcgen05.mma %{{.*}}, [[A0]], [[B0]], %c270599312_i32, %false {ctaGroup = #nvvm.cta_group<cta_2>
// CHECK: nvvm.tcgen05.mma %{{.*}}, %{{.*}}, %{{.*}}, %c270599312_i32, %true {ctaGroup = #nvvm.cta_group<cta_2>
// CHECK: nvvm.tcgen05.commit %{{.*}}, multicast_mask = [[MASK]] {group = #nvvm.cta_group<cta_2>} : !llvm.ptr<3>, i16
// Each CTA loads its own rows and all columns.
// CHECK-COUNT-2: nvvm.tcgen05.ld %{{.*}} : vector<64xi32>
// CHECK: nvvm.cluster.arrive {aligned}
// CHECK-NEXT: nvvm.cluster.wait {aligned}
// CHECK: nvvm.tcgen05.dealloc %{{.*}}, %c128_i32 {group = #nvvm.cta_group<cta_2>}
gpu.module @kernels {
  gpu.func @gemm(%A: memref<128x32xbf16>, %B: memref<32x64xbf16>, %D: memref<128x128xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    "smem.copy"(%A, %a) : (memref<128x32xbf16>, !a) -> ()
    "smem.copy"(%B, %b) : (memref<32x64xbf16>, !b) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !flying
    %r = "smem.wait"(%d) {pending = 0 : i32} : (!flying) -> !ready
    "smem.store"(%r, %D) : (!ready, memref<128x128xf32>) -> ()
    gpu.return
  }
}
