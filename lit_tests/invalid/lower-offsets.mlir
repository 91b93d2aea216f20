// A subtile with a given layout, whose start the type does not hold.

// RUN: smem-opt %s --smem-lower-copies --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!p = !smem.tile<tensor<64x8xbf16>, #smem.layout<"Swizzle<3,4,3> o (64,8):(64,1)">>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @begins_between(%i: index) workgroup(%bytes: !w) kernel {
    %t = "smem.view"(%bytes) : (!w) -> !t
    %p = "smem.subtile"(%t) {static_offsets = array<i64: 0, 4>} : (!t) -> !p
    // expected-error@+1 {{'smem.offset' op the subtile begins 4 elements or a multiple of that into its tile; vectors of 8 elements need multiples of 8}}
    %0 = "smem.offset"(%p, %i, %i) {vector = array<i64: 1, 8>} : (!p, index, index) -> index
    gpu.return
  }
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @no_layout(%i: index) workgroup(%bytes: !w) kernel {
    %t = "smem.view"(%bytes) {alignment = 1024 : i64} : (!w) -> !t
    // expected-error@+1 {{'smem.offset' op uses a tile without a layout; run smem-assign-layouts before}}
    %0 = "smem.offset"(%t, %i, %i) : (!t, index, index) -> index
    gpu.return
  }
}
