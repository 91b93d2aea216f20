// Turns are those of the warpgroups of a partition.

// RUN: smem-opt %s --split-input-file --verify-diagnostics

func.func @outside() {
  // expected-error@+1 {{'smem.order_wait' op is in no smem.partition, whose warpgroups take turns}}
  "smem.order_wait"() : () -> ()
  return
}

// -----

func.func @outside() {
  // expected-error@+1 {{'smem.order_arrive' op is in no smem.partition, whose warpgroups take turns}}
  "smem.order_arrive"() : () -> ()
  return
}

// -----

func.func @elected() {
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.elect"() ({
        // expected-error@+1 {{'smem.order_wait' op is in an smem.elect; all threads of a warpgroup execute it}}
        "smem.order_wait"() : () -> ()
      }) {scope = "warpgroup"} : () -> ()
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}
