// What both CTAs of a pair must do in the same way, and remarks where that is not proven.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

// Each warpgroup has its rows, the same in both CTAs; loops and pipeline indices do not depend on the CTA.
// One remark is expected, so any other fails the test.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @alike(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>, %n: index)
    attributes {known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c128 = arith.constant 128 : index
  %thread = gpu.thread_id x
  %warpgroup = arith.divui %thread, %c128 : index
  %row = arith.muli %warpgroup, %c128 : index
  %x = gpu.block_id x
  %y = gpu.block_id y
  %pairs = arith.divui %x, %c2 : index
  %end = arith.addi %pairs, %y : index
  %own = "smem.subtile"(%a, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!a, index) -> !part
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %end step %c1 {
      %d = "smem.mma"(%own, %pb) {pair} : (!part, !half) -> !d
      %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
    }
  }
  %rank = gpu.cluster_block_id x
  %maybe = arith.cmpi eq, %rank, %c0 : index
  // expected-remark@+1 {{it is not known whether both CTAs take the same branch}}
  scf.if %maybe {
    %d = "smem.mma"(%pa, %pb) {pair} : (!part, !half) -> !d
    %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
  }
  return
}

// -----

// One CTA runs more iterations.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @loop(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = gpu.block_id x
  // expected-remark@+1 {{cannot prove that both CTAs of a pair execute the same mma: it is not known whether both CTAs run the same number of iterations}}
  scf.for %i = %c0 to %x step %c1 {
    %d = "smem.mma"(%pa, %pb) {pair} : (!part, !half) -> !d
    %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
  }
  return
}

// -----

// The accumulator depends on the CTA.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @accumulator(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  %c0 = arith.constant 0 : index
  %rank = gpu.cluster_block_id x
  %even = arith.cmpi eq, %rank, %c0 : index
  %0 = "smem.mma"(%pa, %pb) {pair} : (!part, !half) -> !d
  %1 = "smem.mma"(%pa, %pb) {pair} : (!part, !half) -> !d
  // expected-remark@+1 {{it is not known whether both CTAs take the same branch}}
  %2 = scf.if %even -> !d {
    scf.yield %0 : !d
  } else {
    scf.yield %1 : !d
  }
  %3 = "smem.mma"(%pa, %pb, %2) {pair} : (!part, !half, !d) -> !d
  %4 = "smem.wait"(%3) {pending = 0 : i32} : (!d) -> !r
  return
}

// -----

// Whether the accumulator is kept depends on the CTA.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @keep(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  %c0 = arith.constant 0 : index
  %rank = gpu.cluster_block_id x
  %even = arith.cmpi eq, %rank, %c0 : index
  %0 = "smem.mma"(%pa, %pb) {pair} : (!part, !half) -> !d
  // expected-remark@+1 {{it is not known whether both CTAs keep the accumulator}}
  %1 = "smem.scale_d"(%0, %even) : (!d, i1) -> !d
  %2 = "smem.mma"(%pa, %pb, %1) {pair} : (!part, !half, !d) -> !d
  %3 = "smem.wait"(%2) {pending = 0 : i32} : (!d) -> !r
  return
}

// -----

// An unknown number of iterations.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @while(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>, %more: i1)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  // expected-remark@+1 {{it is not known whether both CTAs execute it in the same way}}
  scf.while : () -> () {
    scf.condition(%more)
  } do {
    %d = "smem.mma"(%pa, %pb) {pair} : (!part, !half) -> !d
    %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
    scf.yield
  }
  return
}

// -----

// A start that each CTA loads from another place.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @loaded_by_rank(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>, %starts: memref<4xindex>)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  %rank = gpu.cluster_block_id x
  %at = memref.load %starts[%rank] : memref<4xindex>
  %own = "smem.subtile"(%a, %at) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 64>} : (!a, index) -> !part
  // expected-remark@+2 {{begins at a row that is not known; it takes 128 of the tile's 256 rows; expected row 0 to 128}}
  // expected-remark-re@+1 {{it is not known whether it reads the same subtile of the smem.alloc at {{.*}} in both CTAs}}
  %d = "smem.mma"(%own, %pb) {pair} : (!part, !half) -> !d
  %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
  return
}

// -----

// Both CTAs load the same element of an array that is only read.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @loaded(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>, %starts: memref<4xindex>)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  %c0 = arith.constant 0 : index
  %at = memref.load %starts[%c0] : memref<4xindex>
  %own = "smem.subtile"(%a, %at) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 64>} : (!a, index) -> !part
  %d = "smem.mma"(%own, %pb) {pair} : (!part, !half) -> !d
  %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
  return
}

// -----

// Each CTA has copied all columns, and reads its half of them.

!a = !smem.tile<tensor<256x64xbf16>, #smem.auto>
!part = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x128xbf16>, #smem.auto>
!half = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @halves(%ga: memref<256x64xbf16>, %gb: memref<64x128xbf16>)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.alloc"() : () -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<256x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x128xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  %pa = "smem.subtile"(%a) {static_offsets = array<i64: 0, 0>} : (!a) -> !part
  %pb = "smem.subtile"(%b) {static_offsets = array<i64: 0, 0>} : (!b) -> !half
  %c64 = arith.constant 64 : index
  %rank = gpu.cluster_block_id x
  %column = arith.muli %rank, %c64 : index
  %own = "smem.subtile"(%b, %column) {static_offsets = array<i64: 0, -9223372036854775808>} : (!b, index) -> !half
  // expected-error-re@+1 {{'smem.mma' op reads different subtiles of the smem.alloc at {{.*}} in the two CTAs of a pair, but one instruction reads both CTAs at the same address; copy what each multiplies to the same subtile}}
  %d = "smem.mma"(%pa, %own) {pair} : (!part, !half) -> !d
  %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
  return
}

// -----

// A view of memory.

!m = memref<16384xi8, #gpu.address_space<workgroup>>
!a = !smem.tile<tensor<128x64xbf16>, #smem.layout<"Swizzle<3,4,3> o (128,64):(64,1)">>
!b = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!d = !smem.fragment<tensor<128x128xf32>, #smem.in_flight>
!r = !smem.fragment<tensor<128x128xf32>, #smem.accumulator>
func.func @view(%ga: memref<128x64xbf16>, %gb: memref<64x64xbf16>, %m: !m)
    attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %a = "smem.view"(%m) : (!m) -> !a
  %b = "smem.alloc"() : () -> !b
  "smem.copy"(%ga, %a) : (memref<128x64xbf16>, !a) -> ()
  "smem.copy"(%gb, %b) : (memref<64x64xbf16>, !b) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  // expected-remark-re@+1 {{it is not known whether the smem.view at {{.*}} is at the same address in both CTAs}}
  %d = "smem.mma"(%a, %b) {pair} : (!a, !b) -> !d
  %r = "smem.wait"(%d) {pending = 0 : i32} : (!d) -> !r
  return
}
