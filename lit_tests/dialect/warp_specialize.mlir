// Partitions with and without registers and the warpgroup index; elected threads.

// RUN: smem-opt %s | smem-opt | FileCheck %s

// CHECK-LABEL: func.func @partitions
func.func @partitions() {
  // CHECK: "smem.warp_specialize"() ({
  // CHECK-NEXT: "smem.partition"() ({
  // CHECK-NEXT: "smem.elect"() ({
  // CHECK-NEXT: "smem.tma_commit"() : () -> ()
  // CHECK-NEXT: }) {scope = "warpgroup"} : () -> ()
  // CHECK-NEXT: }) {registers = 40 : i32, warpgroups = 1 : i32} : () -> ()
  // CHECK-NEXT: "smem.partition"() ({
  // CHECK-NEXT: ^bb0(%[[W:.*]]: index):
  // CHECK-NEXT: arith.addi %[[W]], %[[W]] : index
  // CHECK-NEXT: "smem.order_wait"() : () -> ()
  // CHECK-NEXT: "smem.order_arrive"() : () -> ()
  // CHECK-NEXT: "smem.warpgroup_barrier"() : () -> ()
  // CHECK-NEXT: }) {registers = 232 : i32, warpgroups = 2 : i32} : () -> ()
  // CHECK-NEXT: }) : () -> ()
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        "smem.tma_commit"() : () -> ()
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 1 : i32, registers = 40 : i32} : () -> ()
    "smem.partition"() ({
    ^bb0(%w: index):
      %0 = arith.addi %w, %w : index
      "smem.order_wait"() : () -> ()
      "smem.order_arrive"() : () -> ()
      "smem.warpgroup_barrier"() : () -> ()
    }) {warpgroups = 2 : i32, registers = 232 : i32} : () -> ()
  }) : () -> ()
  return
}

// CHECK-LABEL: func.func @bounds
func.func @bounds() {
  // CHECK: registers = 24 : i32
  // CHECK: host.note, registers = 256 : i32
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32, registers = 24 : i32} : () -> ()
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32, registers = 256 : i32, host.note} : () -> ()
  }) : () -> ()
  // CHECK: {host.note, scope = "cta"} : () -> ()
  "smem.elect"() ({
    "smem.fence"() : () -> ()
  }) {scope = "cta", host.note} : () -> ()
  // CHECK: {scope = "warpgroup", warp = 3 : i32} : () -> ()
  "smem.elect"() ({
    "smem.fence"() : () -> ()
  }) {scope = "warpgroup", warp = 3 : i32} : () -> ()
  // CHECK: {scope = "cta", warp = 7 : i32} : () -> ()
  "smem.elect"() ({
    "smem.fence"() : () -> ()
  }) {scope = "cta", warp = 7 : i32} : () -> ()
  return
}
