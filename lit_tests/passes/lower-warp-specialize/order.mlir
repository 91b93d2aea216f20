// Turns are named barriers of two warpgroups, the last ones of the CTA: a warpgroup waits at its own, and arrives at
// that of the next one. The last one arrives once at the begin. A partition of one warpgroup needs none.

// RUN: smem-opt %s --allow-unregistered-dialect --smem-lower-warp-specialize | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @turns
  gpu.func @turns() kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    "smem.warp_specialize"() ({
      // CHECK: "test.alone"
      // CHECK-NEXT: "test.mma"
      // CHECK-NOT: nvvm.barrier
      "smem.partition"() ({
        "test.alone"() : () -> ()
        "smem.order_wait"() : () -> ()
        "test.mma"() : () -> ()
        "smem.order_arrive"() : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()
      // The warpgroups 1 to 3 of the CTA have the barriers 13 to 15.
      // CHECK: %[[WARPGROUP:.*]] = arith.divui %{{.*}}, %c128_i32{{.*}} : i32
      // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
      // CHECK-NEXT: %[[PLACE:.*]] = arith.subi %[[WARPGROUP]], %[[ONE]] : i32
      // CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i32
      // CHECK-NEXT: %[[LAST:.*]] = arith.cmpi eq, %[[PLACE]], %[[TWO]] : i32
      // CHECK-NEXT: scf.if %[[LAST]] {
      // CHECK-NEXT: %[[FIRST:.*]] = arith.constant 13 : i32
      // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 256 : i32
      // CHECK-NEXT: nvvm.barrier.arrive id = %[[FIRST]] number_of_threads = %[[THREADS]]
      // CHECK-NEXT: }
      // CHECK: scf.for
      // CHECK: %[[OWN:.*]] = arith.addi %{{.*}}, %c13_i32{{.*}} : i32
      // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 256 : i32
      // CHECK-NEXT: nvvm.barrier id = %[[OWN]] number_of_threads = %[[THREADS]]
      // CHECK-NEXT: "test.mma"
      // CHECK: %[[NEXT:.*]] = arith.remui %{{.*}}, %c3_i32{{.*}} : i32
      // CHECK: %[[OTHER:.*]] = arith.addi %[[NEXT]], %c13_i32{{.*}} : i32
      // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 256 : i32
      // CHECK-NEXT: nvvm.barrier.arrive id = %[[OTHER]] number_of_threads = %[[THREADS]]
      "smem.partition"() ({
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c9 = arith.constant 9 : index
        scf.for %i = %c0 to %c9 step %c1 {
          "smem.order_wait"() : () -> ()
          "test.mma"() : () -> ()
          "smem.order_arrive"() : () -> ()
        }
      }) {warpgroups = 3 : i32} : () -> ()
    }) : () -> ()
    // CHECK-NOT: smem.
    gpu.return
  }
}
