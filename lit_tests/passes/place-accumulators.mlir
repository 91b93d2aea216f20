// Columns of tensor memory for each op that makes an accumulator, and for each A in registers, for the warpgroups
// that execute it.

// RUN: smem-opt %s --split-input-file --smem-place-accumulators | FileCheck %s

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<32x64xbf16>, #smem.auto>
!words = !smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>
!flying = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// A chain of mma is one accumulator of 64 columns; 32 elements of bf16 are 16 columns.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: "smem.tensor_memory"() {columns = 80 : i32, depth = 4 : i32, first = 0 : i32, warpgroups = 2 : i32} : () -> !smem.pipeline
func.func @chain(%a: !a, %words: !words, %b: !b) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %0 = "smem.mma"(%a, %b) : (!a, !b) -> !flying
  %1 = "smem.mma"(%words, %b, %0) : (!words, !b, !flying) -> !flying
  return
}

// -----

!a = !smem.tile<tensor<64x32xbf16>, #smem.auto>
!b = !smem.tile<tensor<32x64xbf16>, #smem.auto>
!flying = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>

// Only the second partition has accumulators.
// CHECK-LABEL: func.func @partitions
// CHECK-NEXT: "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 1 : i32, warpgroups = 2 : i32}
func.func @partitions(%a: !a, %b: !b) attributes {known_block_size = array<i32: 384, 1, 1>} {
  "smem.warp_specialize"() ({
    "smem.partition"() ({
    ^bb0:
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
      %0 = "smem.mma"(%a, %b) : (!a, !b) -> !flying
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// Accumulators that are readable are in registers.
// CHECK-LABEL: func.func @registers
// CHECK-NOT: smem.tensor_memory
func.func @registers(%zero: f32) {
  %0 = "smem.fill"(%zero) : (f32) -> !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
  return
}
