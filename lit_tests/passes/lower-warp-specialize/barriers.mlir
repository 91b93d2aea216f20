// Barriers of one warpgroup, and of groups of them: those of groups are counted from the last one of the CTA.

// RUN: smem-opt %s --smem-lower-warp-specialize | FileCheck %s

// CHECK-LABEL: func.func @barriers
func.func @barriers() attributes {known_block_size = array<i32: 640, 1, 1>} {
  // CHECK: scf.if
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      // CHECK: %[[NUMBER:.*]] = arith.addi %{{.*}}, %c1_i32{{.*}} : i32
      // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 128
      // CHECK-NEXT: nvvm.barrier id = %[[NUMBER]] number_of_threads = %[[THREADS]]
      "smem.warpgroup_barrier"() : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      // CHECK: %[[WARPGROUP:.*]] = arith.subi %{{.*}}, %c1_i32{{.*}} : i32
      // CHECK: %[[GROUP:.*]] = arith.divui %[[WARPGROUP]], %c4_i32{{.*}} : i32
      // CHECK: %[[NUMBER:.*]] = arith.addi %[[GROUP]], %c15_i32{{.*}} : i32
      // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 512
      // CHECK-NEXT: nvvm.barrier id = %[[NUMBER]] number_of_threads = %[[THREADS]]
      "smem.warpgroup_barrier"() {warpgroups = 4 : i32} : () -> ()
      // CHECK: %[[GROUP:.*]] = arith.divui %{{.*}}, %c2_i32{{.*}} : i32
      // CHECK: %[[NUMBER:.*]] = arith.addi %[[GROUP]], %c13_i32{{.*}} : i32
      // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 256
      // CHECK-NEXT: nvvm.barrier id = %[[NUMBER]] number_of_threads = %[[THREADS]]
      "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
      // CHECK: arith.addi %{{.*}}, %c15_i32{{.*}} : i32
      "smem.warpgroup_barrier"() {warpgroups = 4 : i32} : () -> ()
    }) {warpgroups = 4 : i32} : () -> ()
  }) : () -> ()
  return
}
