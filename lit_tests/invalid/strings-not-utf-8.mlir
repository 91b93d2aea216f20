// RUN: smem-opt %s --split-input-file --verify-diagnostics

// Strings that are not UTF-8, which the Python bindings cannot read.

func.func @in_a_type() {
  // expected-error@+1 {{'smem.alloc' op has a type with text that is not UTF-8}}
  %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"1\8B", "row-major">>
  return
}

// -----

func.func @in_an_attribute() attributes {known_block_size = array<i32: 128, 1, 1>} {
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      // expected-error@+1 {{'smem.elect' op has scope = "\8B"; expected UTF-8}}
      "smem.elect"() ({
      }) {scope = "\8B"} : () -> ()
    }) {warpgroups = 1 : i32} : () -> ()
  }) : () -> ()
  return
}
