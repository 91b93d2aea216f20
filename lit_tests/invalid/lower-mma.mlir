// RUN: smem-opt %s --smem-lower-mma --allow-unregistered-dialect --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @too_early() {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.mma' op still reads tiles; run smem-materialize-descriptors before}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
  return
}

// -----

// The elements of a thread depend on the thread block size.

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_block_size(%v: f32, %m: memref<64x64xf32>) {
  %c = "smem.fill"(%v) : (f32) -> !c
  // expected-error@+1 {{'smem.store' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
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

// Fragment types that no op has verified and no registers hold.

// expected-error@+1 {{has an accumulator of [64, 7]; expected (M, N) with M a multiple of 64 and N of 8}}
%0 = "test.make"() : () -> !smem.fragment<tensor<64x7xf32>, #smem.accumulator>

// -----

// expected-error@+1 {{expected a ranked tensor of static shape as the first parameter, not i32}}
%0 = "test.make"() : () -> !smem.fragment<i32, #smem.accumulator>

// -----

// Addresses are in units of 16 bytes. (smem-assign-layouts reports the same.)

!t = !smem.tile<tensor<64x64xf32>, #smem.layout<"(64,64):(64,1)">>
!p = !smem.tile<tensor<64x8xf32>, #smem.layout<"(64,8):(64,1)">>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
func.func @begins_between_units(%c: !c) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 2>} : (!t) -> !p
  // expected-error@+1 {{'smem.store' op accesses a subtile that begins 2 elements or a multiple of that into its tile; addresses are computed from multiples of 4 elements (16 bytes)}}
  "smem.store"(%c, %p) : (!c, !p) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.layout<"(64,64):(64,1)">>
!p = !smem.tile<tensor<64x8xf32>, #smem.layout<"(64,8):(64,1)">>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
func.func @may_begin_between_units(%i: index) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %p = "smem.subtile"(%t, %i) {static_offsets = array<i64: 0, -9223372036854775808>} : (!t, index) -> !p
  // expected-error@+1 {{'smem.load' op accesses a subtile that begins 1 elements or a multiple of that into its tile; addresses are computed from multiples of 4 elements (16 bytes)}}
  %0 = "smem.load"(%p) : (!p) -> !c
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @no_layout() attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.load' op uses a tile without a layout; run smem-assign-layouts before}}
  %0 = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @no_offset() attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error@+1 {{'smem.alloc' op has no offset in shared memory; run smem-allocate before}}
  %t = "smem.alloc"() : () -> !t
  %0 = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!a = !smem.fragment<tensor<64x64xbf16>, #smem.a_fragment>
func.func @unknown_tile(%t: !t) attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error-re@+1 {{'smem.load' op uses a tile that is not a stage or subtile of an smem.alloc or smem.view, but comes from an argument of 'func.func' at {{[0-9:]+}}; make it in the kernel}}
  %0 = "smem.load"(%t) : (!t) -> !a
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_block_size_of_load(%c: !c, %m: memref<64x64xf32>) {
  // expected-error@+1 {{'smem.load' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
  %0 = "smem.load"(%m) : (memref<64x64xf32>) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_block_size_of_map(%c: !c, %m: memref<64x64xf32>) {
  // expected-error@+1 {{'smem.map' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
  %0 = "smem.map"(%c) ({
  ^bb0(%v: f32, %row: index, %column: index):
    gpu.yield %v : f32
  }) : (!c) -> !c
  return
}

// -----

!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @no_block_size_of_convert(%c: !c, %m: memref<64x64xf32>) {
  // expected-error@+1 {{'smem.convert' op is executed by all threads together, but the number of threads is not known; set known_block_size = array<i32: x, y, z> on the kernel}}
  %0 = "smem.convert"(%c) : (!c) -> !smem.fragment<tensor<64x64xf8E5M2>, #smem.a_fragment>
  return
}

// -----

func.func @elected(%a: i64, %b: i64) attributes {known_block_size = array<i32: 128, 1, 1>} {
  "smem.elect"() ({
    // expected-error-re@+1 {{'smem.mma_desc' op is in the smem.elect at {{[0-9:]+}}, which one thread executes; all threads of a warpgroup execute it together}}
    %0 = "smem.mma_desc"(%a, %b) {a_element = "f16", b_element = "f16", a_major = "k", b_major = "k", a_steps = array<i64: 0>, b_steps = array<i64: 0>} : (i64, i64) -> !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
  }) {scope = "warpgroup"} : () -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x8xf32>, #smem.swizzle<"none", "row-major">>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
func.func @no_cluster(%rank: index, %m: memref<64x8xf32>) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  // expected-error@+1 {{'smem.load' op has a rank, but the kernel has clusters of 1x1x1 CTAs; set known_cluster_size = array<i32: x, y, z> on it}}
  %c = "smem.load"(%t, %rank) : (!t, index) -> !c
  "smem.store"(%c, %m) : (!c, memref<64x8xf32>) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x8xf32>, #smem.swizzle<"none", "row-major">>
!c = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
func.func @beyond_the_cluster(%m: memref<64x8xf32>) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 2, 1>} {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %rank = arith.constant 4 : index
  // expected-error@+1 {{'smem.load' op has rank = 4; a cluster of 2x2x1 CTAs has ranks 0 to 3}}
  %c = "smem.load"(%t, %rank) : (!t, index) -> !c
  "smem.store"(%c, %m) : (!c, memref<64x8xf32>) -> ()
  return
}
