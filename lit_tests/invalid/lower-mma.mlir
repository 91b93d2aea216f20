// RUN: smem-opt %s --smem-lower-mma --allow-unregistered-dialect --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @too_early() {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.mma' op still reads tiles; run smem-materialize-descriptors before}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// Which thread holds what depends on the block.

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_block_size(%v: f32, %m: memref<64x64xf32>) {
  %c = "smem.fill"(%v) : (f32) -> !c
  // expected-error@+1 {{'smem.store' op is shared by threads of the block, but the kernel does not say how many there are; set known_block_size = array<i32: x, y, z> on it}}
  "smem.store"(%c, %m) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @half_a_warpgroup(%v: f32, %m: memref<64x64xf32>) attributes {known_block_size = array<i32: 64, 1, 1>} {
  %c = "smem.fill"(%v) : (f32) -> !c
  // expected-error@+1 {{'smem.store' op is in a kernel of 64 threads; expected a multiple of 128, whole warpgroups}}
  "smem.store"(%c, %m) : (!c, memref<64x64xf32>) -> ()
  return
}

// -----

// Fragments that no op of ours has verified, of types that no registers hold.

// expected-error@+1 {{has an accumulator of [64, 7]; expected (M, N) with M a multiple of 64 and N of 8}}
%0 = "test.make"() : () -> !smem.fragment<tensor<64x7xf32>, #smem.accumulator>

// -----

// expected-error@+1 {{expected a ranked tensor of static shape as the first parameter, not i32}}
%0 = "test.make"() : () -> !smem.fragment<i32, #smem.accumulator>
