// RUN: smem-opt %s --split-input-file --smem-allocate --smem-lower-mma --verify-diagnostics

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @m {
  gpu.func @three_warpgroups(%c: !c) attributes {known_block_size = array<i32: 384, 1, 1>} {
    // expected-error@+1 {{'smem.reduce' op has warpgroups = 2, but 3 warpgroups execute it; expected a divisor}}
    %0 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

gpu.module @m {
  gpu.func @more_groups_than_barriers(%c: !c) attributes {known_block_size = array<i32: 768, 1, 1>} {
    %0 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
    %1 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 3 : i32} : (!c) -> !r
    %2 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 6 : i32} : (!c) -> !r
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        %3 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
      }) {warpgroups = 2 : i32} : () -> ()
      "smem.partition"() ({
        // expected-error@+1 {{'smem.reduce' op needs a barrier for each of 2 groups of 2 warpgroups; of 7 barriers for groups, 0 are left}}
        %4 = "smem.reduce"(%c) {op = "add", axis = 1 : i32, warpgroups = 2 : i32} : (!c) -> !r
      }) {warpgroups = 4 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!k = !smem.fragment<tensor<64xf32>, #smem.slice<0>>
!r = !smem.fragment<tensor<64xf32>, #smem.slice<1>>

// The bytes, and the barriers, of a function that is called are not known to its caller.
gpu.module @m {
  func.func @rows(%c: !c) -> !r {
    %r = "smem.reduce"(%c) {op = "add", axis = 1 : i32} : (!c) -> !r
    return %r : !r
  }
  func.func @columns(%c: !c) -> !k attributes {gpu.known_block_size = array<i32: 128, 1, 1>} {
    %k = "smem.reduce"(%c) {op = "add", axis = 0 : i32} : (!c) -> !k
    return %k : !k
  }
  gpu.func @call(%c: !c) attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = func.call @rows(%c) : (!c) -> !r
    // expected-error@+1 {{'func.call' op calls @columns, whose smem.reduce at }}
    %k = func.call @columns(%c) : (!c) -> !k
    gpu.return
  }
}

// -----

!c = !smem.fragment<tensor<64x64xbf16>, #smem.accumulator>
func.func @elements_that_are_not_exchanged(%x: !c) {
  // expected-error@+1 {{'smem.reduce' op reduces bf16; expected f32, f16, i32, by an smem.map}}
  %0 = "smem.reduce"(%x) {op = "maximumf", axis = 1 : i32} : (!c) -> !smem.fragment<tensor<64xbf16>, #smem.slice<1>>
  return
}
