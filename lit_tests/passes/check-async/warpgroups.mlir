// Writes of several warpgroups by one op.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @same(%zero: f32) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %t = "smem.alloc"() : () -> !t
  %f = "smem.fill"(%zero) : (f32) -> !c
  // expected-error-re@+1 {{'smem.store' op is executed by 2 warpgroups, which write the same bytes of the smem.alloc at {{[0-9:]+}} at the same time; give each a different subtile with smem.subtile, or let only one execute it}}
  "smem.store"(%f, %t) : (!c, !t) -> ()
  return
}

// -----

!s = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @disjoint(%zero: f32) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c4 = arith.constant 4 : index
  %c7 = arith.constant 7 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %s = "smem.alloc"() : () -> !s
  %f = "smem.fill"(%zero) : (f32) -> !c
  %thread = gpu.thread_id x
  %divided = arith.divui %thread, %c128 : index
  %row = arith.muli %divided, %c64 : index
  %t = "smem.subtile"(%s, %row) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 64>} : (!s, index) -> !t
  "smem.store"(%f, %t) : (!c, !t) -> ()
  gpu.barrier
  %shifted = arith.shrui %thread, %c7 : index
  %row_shifted = arith.muli %shifted, %c64 : index
  %u = "smem.subtile"(%s, %row_shifted) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 64>} : (!s, index) -> !t
  "smem.store"(%f, %u) : (!c, !t) -> ()
  gpu.barrier
  %warp = gpu.subgroup_id : index
  %of_warp = arith.divui %warp, %c4 : index
  %row_of_warp = arith.muli %of_warp, %c64 : index
  %v = "smem.subtile"(%s, %row_of_warp) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 64>} : (!s, index) -> !t
  "smem.store"(%f, %v) : (!c, !t) -> ()
  return
}

// -----

// Overlapping subtiles of 64 rows: each begins 32 rows after the one before.

!s = !smem.tile<tensor<96x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @overlapping(%zero: f32) attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %s = "smem.alloc"() : () -> !s
  %f = "smem.fill"(%zero) : (f32) -> !c
  %thread = gpu.thread_id x
  %warpgroup = arith.divui %thread, %c128 : index
  %row = arith.muli %warpgroup, %c32 : index
  %t = "smem.subtile"(%s, %row) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 32>} : (!s, index) -> !t
  // expected-remark-re@+1 {{cannot prove that the 2 warpgroups that execute it write different bytes of the smem.alloc at {{[0-9:]+}}; begin the subtile at a multiple of gpu.thread_id x / 128}}
  "smem.store"(%f, %t) : (!c, !t) -> ()
  return
}

// -----

// In a CTA of two dimensions the warpgroup is not the thread's x divided by 128.

!s = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
func.func @two_dimensions(%zero: f32) attributes {known_block_size = array<i32: 128, 2, 1>} {
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %s = "smem.alloc"() : () -> !s
  %f = "smem.fill"(%zero) : (f32) -> !c
  %thread = gpu.thread_id x
  %warpgroup = arith.divui %thread, %c128 : index
  %row = arith.muli %warpgroup, %c64 : index
  %t = "smem.subtile"(%s, %row) {static_offsets = array<i64: -9223372036854775808, 0>, multiple_of = array<i64: 64>} : (!s, index) -> !t
  // expected-remark@+1 {{cannot prove that the 2 warpgroups that execute it write different bytes}}
  "smem.store"(%f, %t) : (!c, !t) -> ()
  return
}
