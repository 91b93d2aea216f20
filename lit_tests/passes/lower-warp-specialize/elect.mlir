// A warp of each warpgroup, or of the CTA, elects one of its threads; the default is warp 0. The barrier of a warpgroup
// is one of the named barriers of the CTA: 0 is that of all threads.

// RUN: smem-opt %s --allow-unregistered-dialect --smem-lower-warp-specialize | FileCheck %s

gpu.module @kernels {
  // CHECK-LABEL: gpu.func @elect
  gpu.func @elect() kernel attributes {known_block_size = array<i32: 64, 4, 1>} {
    // CHECK: %[[THREAD:.*]] = arith.addi %{{.*}}, %{{.*}} : i32
    // CHECK-NEXT: %[[C128:.*]] = arith.constant 128 : i32
    // CHECK-NEXT: %[[OWN:.*]] = arith.remui %[[THREAD]], %[[C128]] : i32
    // CHECK-NEXT: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: %[[WARP:.*]] = arith.divui %[[OWN]], %[[C32]] : i32
    // CHECK-NEXT: %[[C0:.*]] = arith.constant 0 : i32
    // CHECK-NEXT: %[[FIRST:.*]] = arith.cmpi eq, %[[WARP]], %[[C0]] : i32
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: %[[ELECTED:.*]] = nvvm.elect.sync -> i1
    // CHECK-NEXT: scf.if %[[ELECTED]] {
    // CHECK-NEXT: "test.each"() : () -> ()
    // CHECK-NEXT: }
    // CHECK-NEXT: }
    "smem.elect"() ({
      "test.each"() : () -> ()
    }) {scope = "warpgroup"} : () -> ()

    // CHECK: %[[THREAD:.*]] = arith.addi
    // CHECK-NEXT: %[[C32:.*]] = arith.constant 32 : i32
    // CHECK-NEXT: %[[WARP:.*]] = arith.divui %[[THREAD]], %[[C32]] : i32
    // CHECK-NEXT: %[[C5:.*]] = arith.constant 5 : i32
    // CHECK-NEXT: %[[SIXTH:.*]] = arith.cmpi eq, %[[WARP]], %[[C5]] : i32
    // CHECK-NEXT: scf.if %[[SIXTH]] {
    // CHECK-NEXT: %[[ELECTED:.*]] = nvvm.elect.sync -> i1
    // CHECK-NEXT: scf.if %[[ELECTED]] {
    // CHECK-NEXT: "test.one"() : () -> ()
    "smem.elect"() ({
      "test.one"() : () -> ()
    }) {scope = "cta", warp = 5 : i32} : () -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @barrier
  gpu.func @barrier() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK: %[[WARPGROUP:.*]] = arith.divui %{{.*}}, %c128_i32{{.*}} : i32
    // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK-NEXT: %[[ID:.*]] = arith.addi %[[WARPGROUP]], %[[ONE]] : i32
    // CHECK-NEXT: %[[THREADS:.*]] = arith.constant 128 : i32
    // CHECK-NEXT: nvvm.barrier id = %[[ID]] number_of_threads = %[[THREADS]]
    "smem.warpgroup_barrier"() : () -> ()
    gpu.return
  }

  // Nested ops.
  // CHECK-LABEL: gpu.func @nested
  // CHECK: nvvm.setmaxregister
  // CHECK: nvvm.elect.sync
  // CHECK: scf.for
  // CHECK: "test.step"
  // CHECK-NOT: smem.
  gpu.func @nested(%n: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.elect"() ({
          scf.for %i = %c0 to %n step %c1 {
            "test.step"(%i) : (index) -> ()
          }
        }) {scope = "cta"} : () -> ()
        "smem.warpgroup_barrier"() : () -> ()
      }) {warpgroups = 1 : i32, registers = 24 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
