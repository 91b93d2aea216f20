// A load from another CTA of the cluster: the address is mapped, and ordinary loads read it, also of a tile
// of 16-bit elements. The CTAs wait for each other before they end.

// RUN: smem-opt %s --smem-lower-mma --canonicalize | FileCheck %s

!t = !smem.tile<tensor<64x8xf16>, #smem.swizzle<"none", "row-major">>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>

// CHECK-LABEL: func.func @remote
func.func @remote(%rank: index, %out: memref<64x8xf32>) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  // CHECK-NOT: nvvm.ldmatrix
  // CHECK: %[[RANK:.*]] = arith.index_cast %arg0 : index to i32
  // CHECK: %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[RANK]] : !llvm.ptr<3> -> !llvm.ptr<7>
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<7> -> vector<2xf16>
  // CHECK-NOT: llvm.load
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %c = "smem.load"(%t, %rank) : (!t, index) -> !c
  "smem.store"(%c, %out) : (!c, memref<64x8xf32>) -> ()
  // CHECK: nvvm.cluster.arrive {aligned}
  // CHECK-NEXT: nvvm.cluster.wait {aligned}
  // CHECK-NEXT: return
  return
}
