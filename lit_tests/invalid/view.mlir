// RUN: smem-opt %s --split-input-file --verify-diagnostics

!m = memref<4000xi8, #gpu.address_space<workgroup>>
func.func @too_small_for_any_layout(%m: !m) {
  // expected-error@+1 {{'smem.view' op needs 8192 bytes, but memref<4000xi8, #gpu.address_space<workgroup>> has 4000}}
  %0 = "smem.view"(%m) : (!m) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// -----

!m = memref<8192xi8, #gpu.address_space<workgroup>>
func.func @auto_at_8(%m: !m) {
  // expected-error@+1 {{'smem.view' op has alignment 8; a tile can begin at multiples of 16 bytes (a power of two)}}
  %0 = "smem.view"(%m) {alignment = 8 : i64} : (!m) -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
  return
}

// -----

!m = memref<64x64xbf16, #gpu.address_space<global>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @global(%m: !m) {
  // expected-error@+1 {{'smem.view' op views memory in workgroup space (#gpu.address_space<workgroup>), not memref<64x64xbf16, #gpu.address_space<global>>}}
  %0 = "smem.view"(%m) : (!m) -> !t
  return
}

// -----

!m = memref<64x64xf16, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @other_element(%m: !m) {
  // expected-error@+1 {{'smem.view' op views elements of f16 as bf16; expected the same type, or bytes (i8)}}
  %0 = "smem.view"(%m) : (!m) -> !t
  return
}

// -----

!m = memref<64x64xbf16, strided<[128, 1]>, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @strided(%m: !m) {
  // expected-error@+1 {{'smem.view' op views contiguous memory only, not memref<64x64xbf16, strided<[128, 1]>, #gpu.address_space<workgroup>>}}
  %0 = "smem.view"(%m) : (!m) -> !t
  return
}

// -----

!m = memref<4096xi8, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @too_small(%m: !m) {
  // expected-error@+1 {{'smem.view' op needs 8192 bytes, but memref<4096xi8, #gpu.address_space<workgroup>> has 4096}}
  %0 = "smem.view"(%m) : (!m) -> !t
  return
}

// -----

// The base offset is in lines of 128 bytes: a swizzle pattern begins at a multiple of them.

!m = memref<8192xi8, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @swizzled_at_64(%m: !m) {
  // expected-error@+1 {{'smem.view' op has alignment 64; a tile with swizzle 128B can begin at multiples of 128 bytes (a power of two)}}
  %0 = "smem.view"(%m) {alignment = 64 : i64} : (!m) -> !t
  return
}

// -----

!m = memref<8192xi8, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"64B", "row-major">>
func.func @no_power_of_two(%m: !m) {
  // expected-error@+1 {{'smem.view' op has alignment 384; a tile with swizzle 64B can begin at multiples of 128 bytes (a power of two)}}
  %0 = "smem.view"(%m) {alignment = 384 : i64} : (!m) -> !t
  return
}

// -----

!m = memref<8192xi8, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"none", "row-major">>
func.func @unswizzled_at_8(%m: !m) {
  // expected-error@+1 {{'smem.view' op has alignment 8; a tile with swizzle none can begin at multiples of 16 bytes (a power of two)}}
  %0 = "smem.view"(%m) {alignment = 8 : i64} : (!m) -> !t
  return
}

// -----

// A memref without a memory space is in global memory.

!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @no_space(%m: memref<64x64xbf16>) {
  // expected-error@+1 {{'smem.view' op views memory in workgroup space (#gpu.address_space<workgroup>), not memref<64x64xbf16>}}
  %0 = "smem.view"(%m) : (memref<64x64xbf16>) -> !t
  return
}

// -----

!m = memref<64x64xbf16, affine_map<(i, j) -> (i floordiv 8, j, i mod 8)>, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @no_strides(%m: !m) {
  // expected-error@+1 {{'smem.view' op takes memrefs with strides, for example strided<[?, 1], offset: ?>, not memref<64x64xbf16, affine_map<(d0, d1) -> (d0 floordiv 8, d1, d0 mod 8)>, #gpu.address_space<workgroup>>}}
  %0 = "smem.view"(%m) : (!m) -> !t
  return
}

// -----

!m = memref<8192xi8, #gpu.address_space<workgroup>>
!t = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
func.func @alignment_in_words(%m: !m) {
  // expected-error@+1 {{'smem.view' op takes alignment as a number of bytes, not "page"}}
  %0 = "smem.view"(%m) {alignment = "page"} : (!m) -> !t
  return
}
