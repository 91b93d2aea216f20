// RUN: smem-opt %s --smem-lower-warp-specialize --split-input-file --verify-diagnostics

func.func @unknown_size() {
  // expected-error@+1 {{'smem.warp_specialize' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @too_many_warpgroups() attributes {known_block_size = array<i32: 128, 2, 1>} {
  // expected-error@+1 {{'smem.warp_specialize' op has partitions of 1 + 2 warpgroups in a CTA of 256 threads; expected 2 in all}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @idle_warpgroup() attributes {known_block_size = array<i32: 384, 1, 1>} {
  // expected-error@+1 {{'smem.warp_specialize' op has partitions of 2 warpgroups in a CTA of 384 threads; expected 3 in all}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @some_with_registers() attributes {known_block_size = array<i32: 256, 1, 1>} {
  // expected-error@+1 {{'smem.warp_specialize' op has partitions with registers and partitions without; expected all or none}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32, registers = 40 : i32} : () -> ()
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @too_many_registers() attributes {known_block_size = array<i32: 384, 1, 1>} {
  // expected-error@+1 {{'smem.warp_specialize' op has partitions of 1 x 128 x 40 + 2 x 128 x 240 = 66560 registers; its 384 threads start with at most 168 each, which are 64512}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32, registers = 40 : i32} : () -> ()
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 2 : i32, registers = 240 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @registers_that_the_launch_did_not_take() attributes {known_block_size = array<i32: 384, 1, 1>} {
  // expected-error@+1 {{'smem.warp_specialize' op has partitions of 1 x 128 x 32 + 2 x 128 x 240 = 65536 registers; its 384 threads start with at most 168 each, which are 64512}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32, registers = 32 : i32} : () -> ()
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 2 : i32, registers = 240 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @registers_that_two_blocks_share() attributes {known_block_size = array<i32: 384, 1, 1>, nvvm.minctasm = 2 : i32} {
  // expected-error@+1 {{'smem.warp_specialize' op has partitions of 1 x 128 x 40 + 2 x 128 x 104 = 31744 registers; its 384 threads start with at most 80 each, which are 30720 (2 CTAs share a multiprocessor)}}
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 1 : i32, registers = 40 : i32} : () -> ()
    "smem.partition"() ({
      "smem.fence"() : () -> ()
    }) {warpgroups = 2 : i32, registers = 104 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @elect() attributes {known_block_size = array<i32: 32, 1, 1>} {
  // expected-error@+1 {{'smem.elect' op is in a kernel of 32 threads; expected a multiple of 128, whole warpgroups}}
  "smem.elect"() ({
    "smem.fence"() : () -> ()
  }) {scope = "cta"} : () -> ()
  return
}

// -----

func.func @barrier() {
  // expected-error@+1 {{'smem.warpgroup_barrier' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
  "smem.warpgroup_barrier"() : () -> ()
  return
}

// -----

// expected-error@+1 {{'func.func' op has thread blocks of 1024 x 2 x 1 threads; expected 1 to 1024 threads}}
func.func @too_many_threads() attributes {known_block_size = array<i32: 1024, 2, 1>} {
  "smem.warpgroup_barrier"() : () -> ()
  return
}

// -----

func.func @no_such_warp() attributes {known_block_size = array<i32: 256, 1, 1>} {
  // expected-error@+1 {{'smem.elect' op takes a thread of warp 8; the CTA has warps 0 to 7}}
  "smem.elect"() ({
    "smem.fence"() : () -> ()
  }) {scope = "cta", warp = 8 : i32} : () -> ()
  return
}

// -----

func.func @too_many_turns() attributes {known_block_size = array<i32: 1024, 1, 1>} {
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      // expected-error@+1 {{'smem.order_wait' op needs a barrier for each warpgroup of partitions that take turns, 8 in all; a CTA has 7 beside those of all threads and of each warpgroup}}
      "smem.order_wait"() : () -> ()
      "smem.order_arrive"() : () -> ()
    }) {warpgroups = 8 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @groups() attributes {known_block_size = array<i32: 384, 1, 1>} {
  // expected-error@+1 {{'smem.warpgroup_barrier' op has warpgroups = 2, but 3 warpgroups execute it; expected a divisor}}
  "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
  return
}

// -----

func.func @too_many_groups() attributes {known_block_size = array<i32: 1024, 1, 1>} {
  "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
  "smem.warpgroup_barrier"() {warpgroups = 4 : i32} : () -> ()
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      "smem.warpgroup_barrier"() {warpgroups = 4 : i32} : () -> ()
    }) {warpgroups = 4 : i32} : () -> ()
    "smem.partition"() ({
      // expected-error@+1 {{'smem.warpgroup_barrier' op needs a barrier for each of 1 groups of 4 warpgroups, with those of others 8 in all; a CTA has 7 beside those of all threads and of each warpgroup}}
      "smem.warpgroup_barrier"() {warpgroups = 4 : i32} : () -> ()
    }) {warpgroups = 4 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// expected-error@+1 {{'smem.warpgroup_barrier' op is in no function; shared memory belongs to a kernel}}
"smem.warpgroup_barrier"() : () -> ()
