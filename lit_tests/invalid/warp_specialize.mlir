// RUN: smem-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'smem.warp_specialize' op holds 'smem.fence'; expected smem.partition alone}}
"smem.warp_specialize"() ({
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32} : () -> ()
  "smem.fence"() : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{'smem.warp_specialize' op holds no smem.partition}}
"smem.warp_specialize"() ({
^bb0:
}) : () -> ()

// -----

// expected-error@+1 {{'smem.warp_specialize' op has 9 warpgroups; a CTA has at most 8, of 128 threads each}}
"smem.warp_specialize"() ({
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32} : () -> ()
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 8 : i32} : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{'smem.warp_specialize' op has a region of 0 blocks; expected one}}
"smem.warp_specialize"() ({}) : () -> ()

// -----

// expected-error@+1 {{'smem.partition' op is not directly in an smem.warp_specialize}}
"smem.partition"() ({
  "smem.fence"() : () -> ()
}) {warpgroups = 1 : i32} : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has warpgroups = 0; expected 1 or more}}
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 0 : i32} : () -> ()
}) : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has the attribute register; expected warpgroups or registers}}
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32, register = 40 : i32} : () -> ()
}) : () -> ()

// -----

// Register counts that setmaxnreg accepts.

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has registers = 100 : i32; expected a multiple of 8 from 24 to 256}}
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32, registers = 100 : i32} : () -> ()
}) : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has registers = 16 : i32; expected a multiple of 8 from 24 to 256}}
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32, registers = 16 : i32} : () -> ()
}) : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has registers = 264 : i32; expected a multiple of 8 from 24 to 256}}
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32, registers = 264 : i32} : () -> ()
}) : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has registers = "many"; expected a multiple of 8 from 24 to 256}}
  "smem.partition"() ({
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32, registers = "many"} : () -> ()
}) : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has a region with arguments (index, index); expected none, or one index}}
  "smem.partition"() ({
  ^bb0(%number: index, %thread: index):
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32} : () -> ()
}) : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has a region with arguments (i32); expected none, or one index}}
  "smem.partition"() ({
  ^bb0(%number: i32):
    "smem.fence"() : () -> ()
  }) {warpgroups = 1 : i32} : () -> ()
}) : () -> ()

// -----

"smem.warp_specialize"() ({
  // expected-error@+1 {{'smem.partition' op has a region of 2 blocks; expected one}}
  "smem.partition"() ({
    cf.br ^bb1
  ^bb1:
    cf.br ^bb1
  }) {warpgroups = 1 : i32} : () -> ()
}) : () -> ()

// -----

// expected-error@+1 {{'smem.elect' op has scope = "warp"; expected "warpgroup" or "cta"}}
"smem.elect"() ({
  "smem.fence"() : () -> ()
}) {scope = "warp"} : () -> ()

// -----

// expected-error@+1 {{'smem.elect' op has a region with arguments; expected none}}
"smem.elect"() ({
^bb0(%thread: index):
  "smem.fence"() : () -> ()
}) {scope = "cta"} : () -> ()

// -----

// expected-error@+1 {{'smem.elect' op has a region of 2 blocks; expected one}}
"smem.elect"() ({
  cf.br ^bb1
^bb1:
  cf.br ^bb1
}) {scope = "warpgroup"} : () -> ()

// -----

// expected-error@+1 {{'smem.elect' op has the attribute warps; expected scope or warp}}
"smem.elect"() ({
  "smem.fence"() : () -> ()
}) {scope = "cta", warps = 1 : i32} : () -> ()

// -----

// A warpgroup has four warps.

// expected-error@+1 {{'smem.elect' op has warp = 4 : i32; expected a number from 0 to 3}}
"smem.elect"() ({
  "smem.fence"() : () -> ()
}) {scope = "warpgroup", warp = 4 : i32} : () -> ()

// -----

// expected-error@+1 {{'smem.elect' op has warp = -1 : i32; expected a number from 0}}
"smem.elect"() ({
  "smem.fence"() : () -> ()
}) {scope = "cta", warp = -1 : i32} : () -> ()

// -----

// expected-error@+1 {{'smem.elect' op has warp = "last"; expected a number from 0 to 3}}
"smem.elect"() ({
  "smem.fence"() : () -> ()
}) {scope = "warpgroup", warp = "last"} : () -> ()

// -----

// expected-error@+1 {{'smem.warpgroup_barrier' op has warpgroups = 9 : i32; expected 1 to 8}}
"smem.warpgroup_barrier"() {warpgroups = 9 : i32} : () -> ()

// -----

// expected-error@+1 {{'smem.warpgroup_barrier' op has the attribute threads; expected warpgroups}}
"smem.warpgroup_barrier"() {threads = 128 : i32} : () -> ()
