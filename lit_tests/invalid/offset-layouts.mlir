// Vectors that no layout of the tile, or of its subtile, has in one piece.

// RUN: smem-opt %s --smem-assign-layouts --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @both_directions(%i: index) workgroup(%bytes: !w) kernel {
    // expected-error-re@+1 {{refused  swizzle 128B, row-major, atoms across: the offset at {{[0-9:]+}}: 8 elements of a column are not contiguous}}
    %t = "smem.view"(%bytes) : (!w) -> !t
    %0 = "smem.offset"(%t, %i, %i) {vector = array<i64: 8, 1>} : (!t, index, index) -> index
    %1 = "smem.offset"(%t, %i, %i) {vector = array<i64: 1, 8>} : (!t, index, index) -> index
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!p = !smem.tile<tensor<32x32xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @begins_between(%i: index) workgroup(%bytes: !w) kernel {
    // expected-error@+1 {{the subtile begins 4 elements or a multiple of that into its tile; vectors of 8 elements need multiples of 8}}
    %t = "smem.view"(%bytes) : (!w) -> !t
    %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 4>} : (!t) -> !p
    %0 = "smem.offset"(%p, %i, %i) {vector = array<i64: 1, 8>} : (!p, index, index) -> index
    gpu.return
  }
}
