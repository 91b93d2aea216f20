// Where a run-time start leaves its tile: an error if some run certainly does, a remark if one may.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @second_warpgroup(%m: !m) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %thread = gpu.thread_id x
  %w = arith.divui %thread, %c128 : index
  %row = arith.muli %w, %c64 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  gpu.barrier
  // expected-error-re@+1 {{'smem.subtile' op begins at row 64, where the smem.load at {{[0-9:]+}} uses it; it takes 64 of the tile's 64 rows; expected row 0}}
  %u = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !t
  %c = "smem.load"(%u) : (!t) -> !c
  return
}

// -----

// A loop of constant bounds, in one whose iterations the size of the array decides. Only the last stage is outside.

!s = !smem.tile<tensor<4x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @stages(%m: !m, %a: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %s = "smem.alloc"() : () -> !s
  scf.for %k = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c5 step %c1 {
      // expected-error-re@+1 {{'smem.stage' op begins at stage 4, where the smem.copy at {{[0-9:]+}} uses it; it takes 1 of the tile's 4 stages; expected stage 0 to 3}}
      %t = "smem.stage"(%s, %i) : (!s, index) -> !t
      "smem.copy"(%m, %t) : (!m, !t) -> ()
      gpu.barrier
    }
  }
  return
}

// -----

!s = !smem.tile<tensor<4x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @negative(%m: !m) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %s = "smem.alloc"() : () -> !s
  scf.for %i = %c0 to %c4 step %c1 {
    %before = arith.subi %i, %c1 : index
    // expected-error@+1 {{'smem.stage' op begins at stage -1}}
    %t = "smem.stage"(%s, %before) : (!s, index) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    gpu.barrier
  }
  return
}

// -----

// Block ids of a grid that is known, and the rank of a CTA that the cluster does not have.

!s = !smem.tile<tensor<2x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @blocks(%m: !m) attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
  %block = gpu.block_id x
  %s = "smem.alloc"() : () -> !s
  // expected-error@+1 {{'smem.stage' op begins at stage 2}}
  %t = "smem.stage"(%s, %block) : (!s, index) -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @rank(%m: !m) attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
  %c1 = arith.constant 1 : index
  %rank = gpu.cluster_block_id x
  %next = arith.addi %rank, %c1 : index
  %t = "smem.alloc"() : () -> !t
  "smem.copy"(%m, %t) : (!m, !t) -> ()
  nvvm.cluster.arrive {aligned}
  nvvm.cluster.wait {aligned}
  // expected-error@+1 {{'smem.load' op has rank = 2; a cluster of 2x1x1 CTAs has ranks 0 to 1}}
  %d = "smem.load"(%t, %next) : (!t, index) -> !c
  return
}

// -----

// In a partition, threads have the numbers of its warpgroups.

!p = !smem.tile<tensor<128x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @partitions(%m: !m) attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %p = "smem.alloc"() : () -> !p
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %unused = arith.constant 0 : index
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
    ^bb0(%w: index):
      %thread = gpu.thread_id x
      %of_cta = arith.divui %thread, %c128 : index
      %row = arith.muli %of_cta, %c64 : index
      %c = "smem.load"(%m) : (!m) -> !c
      // expected-error@+1 {{'smem.subtile' op begins at row 128}}
      %t = "smem.subtile"(%p, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!p, index) -> !t
      "smem.store"(%c, %t) : (!c, !t) -> ()
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// The warps of a partition have the numbers of its warpgroups, too: 4 to 11 here.

!s = !smem.tile<tensor<7x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @warps(%m: !m) attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c4 = arith.constant 4 : index
  %s = "smem.alloc"() : () -> !s
  "smem.warp_specialize"() ({
    "smem.partition"() ({
      %unused = arith.constant 0 : index
    }) {warpgroups = 1 : i32} : () -> ()
    "smem.partition"() ({
    ^bb0(%w: index):
      %warp = gpu.subgroup_id : index
      %number = arith.subi %warp, %c4 : index
      %c = "smem.load"(%m) : (!m) -> !c
      // expected-error@+1 {{'smem.stage' op begins at stage 7}}
      %t = "smem.stage"(%s, %number) : (!s, index) -> !t
      "smem.store"(%c, %t) : (!c, !t) -> ()
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// A loop without iterations accesses nothing.

!s = !smem.tile<tensor<2x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @no_iterations(%m: !m) attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %cta = gpu.block_id x
  %s = "smem.alloc"() : () -> !s
  scf.for %i = %c0 to %c0 step %c1 {
    %t = "smem.stage"(%s, %cta) : (!s, index) -> !t
    "smem.copy"(%m, %t) : (!m, !t) -> ()
  }
  return
}

// -----

// An offset, whose vector takes 4 columns.

!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!w = memref<4096xf32, #gpu.address_space<workgroup>>
func.func @offset(%w: !w) attributes {known_block_size = array<i32: 128, 1, 1>} {
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %thread = gpu.thread_id x
  %row = arith.divui %thread, %c4 : index
  %column = arith.remui %thread, %c64 : index
  %t = "smem.view"(%w) : (!w) -> !t
  // expected-error@+1 {{'smem.offset' op begins at column 63; it takes 4 of the tile's 64 columns; expected column 0 to 60}}
  %o = "smem.offset"(%t, %row, %column) {vector = array<i64: 1, 4>} : (!t, index, index) -> index
  return
}

// -----

// What follows is right for some arguments, or some threads: remarks, once for each subtile.

!s = !smem.tile<tensor<4x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<64x64xf32>
func.func @iterations(%m: !m, %a: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %s = "smem.alloc"() : () -> !s
  scf.for %i = %c0 to %n step %c1 {
    %t = "smem.stage"(%s, %i) : (!s, index) -> !t
    // expected-remark-re@+1 {{cannot prove that the smem.stage at {{[0-9:]+}} is within the smem.alloc at {{[0-9:]+}}: it begins at stage 0 or above; it takes 1 of the tile's 4 stages; expected stage 0 to 3}}
    "smem.copy"(%m, %t) : (!m, !t) -> ()
    gpu.barrier
    %c = "smem.load"(%t) : (!t) -> !c
    gpu.barrier
  }
  return
}

// -----

!p = !smem.tile<tensor<128x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!m = memref<128x64xf32>
func.func @conditions(%m: !m, %x: i1, %i: index) attributes {known_block_size = array<i32: 512, 1, 1>} {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %thread = gpu.thread_id x
  %w = arith.divui %thread, %c128 : index
  %row = arith.muli %w, %c64 : index
  %p = "smem.alloc"() : () -> !p
  "smem.copy"(%m, %p) : (!m, !p) -> ()
  gpu.barrier
  %t = "smem.subtile"(%p, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!p, index) -> !t
  scf.if %x {
    // expected-remark@+1 {{it begins at row 0 to 192; it takes 64 of the tile's 128 rows; expected row 0 to 64}}
    %c = "smem.load"(%t) : (!t) -> !c
  }
  %u = "smem.subtile"(%p, %i) {static_offsets = array<i64: -9223372036854775808, 0>} : (!p, index) -> !t
  %most = arith.minsi %i, %c64 : index
  // expected-remark@+1 {{it begins at a row that is not known}}
  %d = "smem.load"(%u) : (!t) -> !c
  %v = "smem.subtile"(%p, %most) {static_offsets = array<i64: -9223372036854775808, 0>} : (!p, index) -> !t
  // expected-remark@+1 {{it begins at row 64 or below}}
  %e = "smem.load"(%v) : (!t) -> !c
  return
}

// -----

// One thread: which one is not known.

!s = !smem.tile<tensor<2x64x64xf32>, #smem.auto>
!t = !smem.tile<tensor<64x64xf32>, #smem.auto>
!m = memref<64x64xf32>
func.func @elected(%m: !m) attributes {known_block_size = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %thread = gpu.thread_id x
  %w = arith.divui %thread, %c128 : index
  %s = "smem.alloc"() : () -> !s
  %first = "smem.stage"(%s, %c0) : (!s, index) -> !t
  "smem.copy"(%m, %first) : (!m, !t) -> ()
  "smem.fence"() : () -> ()
  gpu.barrier
  "smem.elect"() ({
    %t = "smem.stage"(%s, %w) : (!s, index) -> !t
    // expected-remark@+1 {{it begins at stage 0 to 2}}
    "smem.tma_store"(%t, %m, %c0, %c0) : (!t, !m, index, index) -> ()
    "smem.tma_commit"() : () -> ()
    "smem.tma_wait"() {pending = 0 : i32} : () -> ()
  }) {scope = "cta"} : () -> ()
  return
}
