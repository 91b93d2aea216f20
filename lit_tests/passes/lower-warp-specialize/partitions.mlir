// Each partition is a branch. The number of the warpgroup is taken from the first lane of a warp, so that the compiler
// knows that the branch is uniform.

// RUN: smem-opt %s --allow-unregistered-dialect --smem-lower-warp-specialize | FileCheck %s

gpu.module @kernels {
  // 384 threads start with 65536 / 384 = 170 registers, rounded down to 168.
  // CHECK-LABEL: gpu.func @registers
  gpu.func @registers() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    // CHECK: %[[THREAD:.*]] = arith.index_cast %{{.*}} : index to i32
    // CHECK: %[[ANY:.*]] = arith.divui %[[THREAD]], %c128_i32{{.*}} : i32
    // CHECK: %[[WARPGROUP:.*]] = nvvm.shfl.sync idx %c-1_i32{{.*}}, %[[ANY]], %c0_i32{{.*}}, %c31_i32{{.*}} : i32 -> i32
    // CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[WARPGROUP]], %c1_i32{{.*}} : i32
    // CHECK-NEXT: scf.if %[[FIRST]] {
    // CHECK-NEXT: nvvm.setmaxregister decrease 40
    // CHECK-NEXT: %[[W:.*]] = arith.index_castui %[[WARPGROUP]] : i32 to index
    // CHECK-NEXT: "test.load"(%[[W]]) : (index) -> ()
    // CHECK-NEXT: } else {
    // CHECK-NEXT: nvvm.setmaxregister increase 232
    // CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
    // CHECK-NEXT: %[[SECOND:.*]] = arith.subi %[[WARPGROUP]], %[[ONE]] : i32
    // CHECK-NEXT: %[[W:.*]] = arith.index_castui %[[SECOND]] : i32 to index
    // CHECK-NEXT: "test.multiply"(%[[W]]) : (index) -> ()
    // CHECK-NEXT: }
    // CHECK-NEXT: "test.after"
    "smem.warp_specialize"() ({
      "smem.partition"() ({
      ^bb0(%w: index):
        "test.load"(%w) : (index) -> ()
      }) {warpgroups = 1 : i32, registers = 40 : i32} : () -> ()
      "smem.partition"() ({
      ^bb0(%w: index):
        "test.multiply"(%w) : (index) -> ()
      }) {warpgroups = 2 : i32, registers = 232 : i32} : () -> ()
    }) : () -> ()
    "test.after"() : () -> ()
    gpu.return
  }

  // A number of registers that threads start with is not set again.
  // CHECK-LABEL: gpu.func @as_they_begin
  gpu.func @as_they_begin() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    // CHECK-NOT: nvvm.setmaxregister
    // CHECK: "test.a"
    // CHECK: nvvm.setmaxregister decrease 160
    // CHECK-NEXT: "test.b"
    // CHECK: nvvm.setmaxregister increase 176
    // CHECK-NEXT: "test.c"
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "test.a"() : () -> ()
      }) {warpgroups = 1 : i32, registers = 168 : i32} : () -> ()
      "smem.partition"() ({
        "test.b"() : () -> ()
      }) {warpgroups = 1 : i32, registers = 160 : i32} : () -> ()
      "smem.partition"() ({
        "test.c"() : () -> ()
      }) {warpgroups = 1 : i32, registers = 176 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }

  // Two CTAs share the registers of a multiprocessor: the threads start with 80.
  // CHECK-LABEL: gpu.func @two_ctas
  gpu.func @two_ctas() kernel attributes {known_block_size = array<i32: 384, 1, 1>, nvvm.minctasm = 2 : i32} {
    // CHECK: nvvm.setmaxregister decrease 24
    // CHECK-NEXT: "test.a"
    // CHECK: nvvm.setmaxregister increase 104
    // CHECK-NEXT: "test.b"
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "test.a"() : () -> ()
      }) {warpgroups = 1 : i32, registers = 24 : i32} : () -> ()
      "smem.partition"() ({
        "test.b"() : () -> ()
      }) {warpgroups = 2 : i32, registers = 104 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }

  // Warpgroups 0; 1 and 2; 3, of a block of two dimensions.
  // CHECK-LABEL: gpu.func @three_partitions
  gpu.func @three_partitions() kernel attributes {known_block_size = array<i32: 128, 4, 1>} {
    // CHECK-NOT: nvvm.setmaxregister
    // CHECK: %[[WARPGROUP:.*]] = nvvm.shfl.sync idx
    // CHECK: arith.cmpi ult, %[[WARPGROUP]], %c1_i32{{.*}} : i32
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: "test.a"() : () -> ()
    // CHECK-NEXT: } else {
    // CHECK: arith.cmpi ult, %[[WARPGROUP]], %c3_i32{{.*}} : i32
    // CHECK-NEXT: scf.if
    // CHECK: arith.subi %[[WARPGROUP]], %c1_i32{{.*}} : i32
    // CHECK: "test.b"
    // CHECK-NEXT: } else {
    // CHECK: arith.subi %[[WARPGROUP]], %c3_i32{{.*}} : i32
    // CHECK: "test.c"
    // CHECK-NEXT: }
    // CHECK-NEXT: }
    // CHECK-NEXT: gpu.return
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "test.a"() : () -> ()
      }) {warpgroups = 1 : i32} : () -> ()
      "smem.partition"() ({
      ^bb0(%w: index):
        "test.b"(%w) : (index) -> ()
      }) {warpgroups = 2 : i32} : () -> ()
      "smem.partition"() ({
      ^bb0(%w: index):
        "test.c"(%w) : (index) -> ()
      }) {warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }

  // Partitions within a partition of all warpgroups.
  // CHECK-LABEL: gpu.func @nested
  gpu.func @nested() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // CHECK: arith.cmpi ult, %{{.*}}, %c2_i32{{.*}} : i32
    // CHECK-NEXT: scf.if
    // CHECK: arith.cmpi ult, %{{.*}}, %c1_i32{{.*}} : i32
    // CHECK-NEXT: scf.if
    // CHECK-NEXT: "test.a"
    // CHECK-NEXT: } else {
    // CHECK-NEXT: "test.b"
    // CHECK-NOT: smem.partition
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.warp_specialize"() ({
          "smem.partition"() ({
            "test.a"() : () -> ()
          }) {warpgroups = 1 : i32} : () -> ()
          "smem.partition"() ({
            "test.b"() : () -> ()
          }) {warpgroups = 1 : i32} : () -> ()
        }) : () -> ()
      }) {warpgroups = 2 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
