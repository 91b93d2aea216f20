// Warpgroups of a partition that exchange what they write: their accesses are ordered by a barrier of all of them.

// RUN: smem-opt %s --smem-check-async --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<128x64xf32>, #smem.auto>
!h = !smem.tile<tensor<64x64xf32>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>

// Each warpgroup takes one branch: what one writes in its branch, the other one reads.
func.func @branches() attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  %t = "smem.alloc"() : () -> !t
  "smem.warp_specialize"() ({
    "smem.partition"() ({
    ^bb0(%w: index):
      %x = "smem.fill"(%zero) : (f32) -> !c
      %row = arith.muli %w, %c64 : index
      %mine = "smem.subtile"(%t, %row) {static_offsets = array<i64: -9223372036854775808, 0>} : (!t, index) -> !h
      %first = "smem.subtile"(%t) {static_offsets = array<i64: 0, 0>} : (!t) -> !h
      "smem.store"(%x, %mine) : (!c, !h) -> ()
      "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
      %is_first = arith.cmpi eq, %w, %c0 : index
      scf.if %is_first {
        // expected-remark-re@+2 {{cannot prove that accesses of tiles are in order: another warpgroup of its partition may access the same bytes by the smem.load at {{[0-9:]+$}}}}
        // expected-remark-re@+1 {{cannot prove that accesses of tiles are in order: another warpgroup of its partition may access the same bytes by the smem.store at {{[0-9:]+$}}}}
        "smem.store"(%x, %first) : (!c, !h) -> ()
      } else {
        %y = "smem.load"(%first) : (!h) -> !c
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}

// -----

// The threads of one branch do not come to the barrier.
func.func @divergent() attributes {known_block_size = array<i32: 256, 1, 1>} {
  %c0 = arith.constant 0 : index
  "smem.warp_specialize"() ({
    "smem.partition"() ({
    ^bb0(%w: index):
      %is_first = arith.cmpi eq, %w, %c0 : index
      scf.if %is_first {
        // expected-remark@+2 {{cannot prove that accesses of tiles are in order: not all threads of 2 warpgroups execute it}}
        // expected-remark-re@+1 {{cannot prove that 2 warpgroups execute it together: the 'scf.if' at {{[0-9:]+}} may differ between them}}
        "smem.warpgroup_barrier"() {warpgroups = 2 : i32} : () -> ()
      }
    }) {warpgroups = 2 : i32} : () -> ()
  }) : () -> ()
  return
}
