// RUN: smem-opt %s --smem-materialize-descriptors --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @argument(%t: !t) {
  // expected-error-re@+1 {{'smem.mma' op uses a tile that is not a stage or subtile of an smem.alloc or smem.view, but comes from an argument of 'func.func' at {{[0-9:]+}}; make it in the kernel}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @selected(%b: i1) {
  %t = "smem.alloc"() : () -> !t
  %u = "smem.alloc"() : () -> !t
  %s = arith.select %b, %t, %u : !t
  // expected-error-re@+1 {{'smem.mma' op uses a tile that is not a stage or subtile of an smem.alloc or smem.view, but comes from 'arith.select' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile: give one smem.alloc a leading dimension, pass an index, and use smem.stage where the tile is needed}}
  %d = "smem.mma"(%s, %s) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @carried(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = "smem.alloc"() : () -> !t
  %u = scf.for %i = %c0 to %n step %c1 iter_args(%x = %t) -> !t {
    // expected-error-re@+1 {{of an smem.alloc or smem.view, but comes from a block argument in 'scf.for' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile}}
    %d = "smem.mma"(%x, %x) : (!t, !t) -> !d
    scf.yield %x : !t
  }
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @branched(%c: i1) {
  %t = "smem.alloc"() : () -> !t
  cf.cond_br %c, ^next(%t : !t), ^next(%t : !t)
^next(%s: !t):
  // expected-error-re@+1 {{of an smem.alloc or smem.view, but comes from a block argument in 'func.func' at {{[0-9:]+}}; loops, branches and selects cannot pass a tile}}
  %d = "smem.mma"(%s, %s) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @no_layout() {
  %t = "smem.alloc"() : () -> !t
  // expected-error@+1 {{'smem.mma' op uses a tile without a layout; run smem-assign-layouts before}}
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @no_offset() {
  // expected-error@+1 {{'smem.alloc' op has no offset in shared memory; run smem-allocate before}}
  %t = "smem.alloc"() : () -> !t
  %d = "smem.mma"(%t, %t) : (!t, !t) -> !d
  return
}

// -----

// smem-assign-layouts would have rejected the next two, at the alloc.

!t = !smem.tile<tensor<64x64xbf16>, #smem.layout<"(64,64):(64,1)">>
!part = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @not_canonical() {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !part
  // expected-error@+1 {{'smem.mma' op cannot read A: the MMA tile of 64x16 at (0, 0): along m/n, the stride of factor 8 is 64 elements where 1T = 8 is needed}}
  %d = "smem.mma"(%p, %p) : (!part, !part) -> !d
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!part = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x64xbf16>, #smem.swizzle<"128B", "row-major">>
!d = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
func.func @misaligned_part() {
  %t = "smem.alloc"() {offset = 0 : i64} : () -> !t
  %b = "smem.alloc"() {offset = 8192 : i64} : () -> !b
  %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 4>} : (!t) -> !part
  // expected-error@+1 {{'smem.mma' op reads A from a subtile that begins 4 elements or a multiple of that into its tile; descriptors count 8 elements (16 bytes)}}
  %d = "smem.mma"(%p, %b) : (!part, !b) -> !d
  return
}
