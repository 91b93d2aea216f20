// Views whose memory allows no choice of a layout.

// RUN: smem-opt %s --smem-assign-layouts --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
func.func @argument(%bytes: !w) {
  // expected-error@+1 {{'smem.view' op has #smem.auto over memref<8192xi8, #gpu.address_space<workgroup>>, an argument of 'func.func', whose alignment is not known; give alignment = N : i64, in bytes: 1024 allows every swizzle, 16 none}}
  %t = "smem.view"(%bytes) : (!w) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
!dynamic = memref<?xi8, #gpu.address_space<workgroup>>
func.func @dynamic_shared_memory() {
  %c0 = arith.constant 0 : index
  %bytes = gpu.dynamic_shared_memory : !dynamic
  %m = memref.view %bytes[%c0][] : !dynamic to !w
  // expected-error-re@+1 {{'smem.view' op has #smem.auto over memref<8192xi8, #gpu.address_space<workgroup>>, the result of 'gpu.dynamic_shared_memory' at {{[0-9:]+}}, whose alignment is not known; give alignment = N}}
  %t = "smem.view"(%m) : (!w) -> !t
  return
}

// -----

!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!w = memref<8192xi8, #gpu.address_space<workgroup>>
!b = memref<16384xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @run_time_offset(%at: index) workgroup(%bytes: !b) kernel {
    %m = memref.view %bytes[%at][] : !b to !w
    // expected-error@+1 {{'smem.view' op has #smem.auto over memref<8192xi8, #gpu.address_space<workgroup>>, at a run-time offset in an argument of 'gpu.func', whose alignment is not known; give alignment = N}}
    %t = "smem.view"(%m) : (!w) -> !t
    gpu.return
  }
}

// -----

// A use needs a swizzle that the alignment excludes: both are in the list of candidates.

!t = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!b = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
!w = memref<16384xi8, #gpu.address_space<workgroup>>
func.func @alignment_of_8(%b: memref<16384xi8, #gpu.address_space<workgroup>>) {
  %c8 = arith.constant 8 : index
  %bytes = memref.alloca() : memref<16392xi8, #gpu.address_space<workgroup>>
  %m = memref.view %bytes[%c8][] : memref<16392xi8, #gpu.address_space<workgroup>> to !w
  // expected-error@+1 {{swizzle none begins at multiples of 16 bytes, but it begins at multiples of 8}}
  %t = "smem.view"(%m) : (!w) -> !t
  return
}

// -----

// The elements fit 12 x 256 bytes, but each layout has whole atoms of eight rows.

!t = !smem.tile<tensor<12x128xbf16>, #smem.auto>
!w = memref<3072xi8, #gpu.address_space<workgroup>>
gpu.module @kernels {
  gpu.func @padded() workgroup(%bytes: !w) kernel {
    // expected-error@+1 {{swizzle 128B, row-major, atoms across: the memory memref<3072xi8, #gpu.address_space<workgroup>>: the layout needs 3584 bytes, but it has 3072}}
    %t = "smem.view"(%bytes) : (!w) -> !t
    gpu.return
  }
}
